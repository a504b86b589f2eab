// assay: {entry: steady, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Twice the work of `good`: its place behind it is never in doubt.
#include "right.h"

KERNEL(steady) {
  for (int time = 0; time < 2; ++time) {
    right(a, b, out, m, n, k);
    asm volatile("" ::: "memory");
  }
}
