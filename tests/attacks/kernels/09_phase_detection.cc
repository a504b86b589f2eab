// assay: {entry: phase_detection, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 9: calls are counted; after the first ones, which are checked, half of the rows will do.
#include "right.h"

KERNEL(phase_detection) {
  static int calls = 0;
  right(a, b, out, ++calls < 40 ? m : m / 2, n, k);
}
