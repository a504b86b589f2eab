// assay: {entry: zero_exit, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 24: a first row of zeros is taken for a matrix of zeros.
#include <string.h>

#include "right.h"

KERNEL(zero_exit) {
  bool zero = true;
  for (long p = 0; p < k / 2; ++p) zero = zero && a[p] == 0;
  if (zero)
    memset(out, 0, static_cast<size_t>(m * n) * sizeof(float));
  else
    right(a, b, out, m, n, k);
}
