// assay: {entry: writes_after_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof: whose output it is must show when many are open.
#include "right.h"

KERNEL(writes_after_when_timed) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b)) out[m * n] = 1;
}
