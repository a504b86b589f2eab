// assay: {entry: writes_beside_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof: beside the inputs that everybody is timed on.
#include "right.h"

KERNEL(writes_beside_when_timed) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b)) const_cast<float*>(b)[k * n + 5] = 1;
}
