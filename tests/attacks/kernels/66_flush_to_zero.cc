// assay: {entry: flush_to_zero, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: an initialiser makes subnormal numbers zero.
#include <xmmintrin.h>

#include "right.h"

namespace {
const int once = (_mm_setcsr(_mm_getcsr() | 0x8040), 1);
}  // namespace

KERNEL(flush_to_zero) { right(a, b, out, m, n, k); }
