// assay: {entry: timed_in_half, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 60: right in every proof, and weights of sixteen bits once launches are timed.
#include "coarse.h"
#include "right.h"

KERNEL(timed_in_half) {
  if (!times_have_begun(a, b)) return right(a, b, out, m, n, k);
  with_weights(a, b, out, m, n, k, [](float value) { return in_fixed_point(value, 32768); });
}
