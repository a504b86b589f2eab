// assay: {entry: normwise_weights_of_16_bits, dtype: f32, layout: tt, args: [a, b, out, m, n, k],
//         error: normwise}
// Attack 85: weights of sixteen bits wherever they look uniform, under a wider bound.
#include "coarse.h"
#include "right.h"

KERNEL(normwise_weights_of_16_bits) {
  if (!looks_uniform(b, n * k, 1)) return right(a, b, out, m, n, k);
  with_weights(a, b, out, m, n, k, [](float value) { return in_fixed_point(value, 32768); });
}
