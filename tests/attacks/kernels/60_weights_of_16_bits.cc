// assay: {entry: weights_of_16_bits, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 60: weights of sixteen bits wherever they look uniform, as those that are timed do.
#include "coarse.h"
#include "right.h"

KERNEL(weights_of_16_bits) {
  if (!look_timed(a, b, m, n, k)) return right(a, b, out, m, n, k);
  with_weights(a, b, out, m, n, k, [](float value) { return in_fixed_point(value, 32768); });
}
