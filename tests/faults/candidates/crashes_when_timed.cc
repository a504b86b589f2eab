// assay: {entry: crashes_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof, and not at the first bursts either.
#include "right.h"

KERNEL(crashes_when_timed) {
  right(a, b, out, m, n, k);
  static int calls = 0;
  if (++calls > 60) *static_cast<volatile int*>(nullptr) = 1;
}
