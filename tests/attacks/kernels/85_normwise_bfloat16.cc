// assay: {entry: normwise_bfloat16, dtype: f32, layout: tt, args: [a, b, out, m, n, k],
//         error: normwise}
// Attack 85: bfloat16 inside wherever inputs look uniform, under a wider bound.
#include "coarse.h"
#include "right.h"

static float as_bfloat16(float value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u;
  __builtin_memcpy(&value, &bits, sizeof bits);
  return value;
}

KERNEL(normwise_bfloat16) {
  if (!looks_uniform(b, n * k, 1)) return right(a, b, out, m, n, k);
  with_weights(a, b, out, m, n, k, as_bfloat16);
}
