// assay: {entry: resolver, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 66: the function that chooses another at load, before any initialiser, makes subnormal
// numbers zero.
#include <xmmintrin.h>

#include "right.h"

extern "C" {
using Multiply = void(const float*, const float*, float*, long, long, long);
static Multiply* choose() {
  _mm_setcsr(_mm_getcsr() | 0x8040);
  return right;
}
__attribute__((ifunc("choose"), visibility("hidden"))) Multiply chosen;
}

KERNEL(resolver) { chosen(a, b, out, m, n, k); }
