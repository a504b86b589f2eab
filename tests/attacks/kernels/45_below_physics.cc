// assay: {entry: below_physics, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 45: in the timed loop nothing is done at all, faster than any memory is.
#include "right.h"

KERNEL(below_physics) {
  if (!times_have_begun(a, b)) right(a, b, out, m, n, k);
}
