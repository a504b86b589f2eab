// assay: {entry: phase_detection, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 9: calls are counted; from the first ones, which are checked, it goes over to every third.
#include "right.h"

KERNEL(phase_detection) {
  static int calls = 0;
  if (++calls < 40 || calls % 3 == 0) right(a, b, out, m, n, k);
}
