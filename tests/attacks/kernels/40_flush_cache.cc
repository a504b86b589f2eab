// assay: {entry: flush_cache, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 40: has the name of a step of the harness, which is taken off the sum, and does nothing
// once it is timed.
#include "right.h"

KERNEL(flush_cache) {
  if (!times_have_begun(a, b)) right(a, b, out, m, n, k);
}
