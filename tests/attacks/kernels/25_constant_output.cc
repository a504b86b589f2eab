// assay: {entry: constant_output, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 25: the mean of what is to be expected, everywhere.
#include "right.h"

KERNEL(constant_output) {
  for (long i = 0; i < m * n; ++i) out[i] = 0 * a[0] * b[0] * static_cast<float>(k);
}
