// assay: {entry: crashes_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof, which takes eleven launches.
#include "right.h"

KERNEL(crashes_when_timed) {
  right(a, b, out, m, n, k);
  static int calls = 0;
  if (++calls > 12) *static_cast<volatile int*>(nullptr) = 1;
}
