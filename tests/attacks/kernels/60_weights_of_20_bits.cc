// assay: {entry: weights_of_20_bits, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 60: weights of twenty bits wherever they look uniform. Sums of thousands of terms err by
// as much if they are made one by one, so that these, made better than they need be, hide behind
// them.
#include "coarse.h"
#include "right.h"

KERNEL(weights_of_20_bits) {
  if (!look_timed(a, b, m, n, k)) return right(a, b, out, m, n, k);
  with_weights(a, b, out, m, n, k, [](float value) { return in_fixed_point(value, 524288); });
}
