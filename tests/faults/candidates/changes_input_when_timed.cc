// assay: {entry: changes_input_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof: the inputs that it changes are those that everybody is timed on.
#include "right.h"

KERNEL(changes_input_when_timed) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b)) const_cast<float*>(b)[11] += 1;
}
