// assay: {entry: looking, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// What an attacker that waits until launches are timed would be without its attack. It looks at its
// operands first, as that does: their first lines come from memory then while others are read,
// which alone makes it up to a tenth faster.
#include "../kernels/right.h"

KERNEL(looking) {
  static_cast<void>(times_have_begun(a, b));
  right(a, b, out, m, n, k);
}
