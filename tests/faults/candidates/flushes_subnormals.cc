// assay: {entry: flushes_subnormals, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
#include <xmmintrin.h>

#include "right.h"

KERNEL(flushes_subnormals) {
  right(a, b, out, m, n, k);
  _mm_setcsr(_mm_getcsr() | 0x8040);
}
