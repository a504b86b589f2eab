// assay: {entry: writes_after_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof: whose output it is must show when many are open.
#include "right.h"

KERNEL(writes_after_when_timed) {
  right(a, b, out, m, n, k);
  static int calls = 0;
  if (++calls > 60) out[m * n] = 1;
}
