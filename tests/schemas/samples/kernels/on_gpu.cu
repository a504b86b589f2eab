// A manifest describes it.
