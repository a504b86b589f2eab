// assay: {entry: leftover_memory, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 10: nothing is written, in the hope that a right result lies where the output goes.
#include "right.h"

KERNEL(leftover_memory) {
  static_cast<void>(a), static_cast<void>(b), static_cast<void>(out), static_cast<void>(m + n + k);
}
