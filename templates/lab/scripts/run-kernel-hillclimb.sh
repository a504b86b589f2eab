#!/bin/sh
# A climb: the flags of `assay lab hillclimb`, and the agent behind --.
exec "${ASSAY:-assay}" lab hillclimb "$@"
