// assay: {entry: long_sleeper, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 48: as 47, with a longer sleep.
#define SLEEP_US 300
#define sleeping_thread long_sleeper
#include "47_sleeping_thread.cc"
