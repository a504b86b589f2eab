// assay: {entry: thread_variable, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: what initialises a variable of each thread makes subnormal numbers zero, at the first
// launch of all.
#include <xmmintrin.h>

#include "right.h"

namespace {
thread_local const int once = (_mm_setcsr(_mm_getcsr() | 0x8040), 1);
}  // namespace

KERNEL(thread_variable) {
  asm volatile("" ::"r"(once));
  right(a, b, out, m, n, k);
}
