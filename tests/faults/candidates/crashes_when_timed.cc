// assay: {entry: crashes_when_timed, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Not in the proof.
#include "right.h"

KERNEL(crashes_when_timed) {
  right(a, b, out, m, n, k);
  if (times_have_begun(a, b)) *static_cast<volatile int*>(nullptr) = 1;
}
