// assay: {entry: wavers, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Within the error budget, but every other call rounds the first sum in another order.
#include "right.h"

KERNEL(wavers) {
  slowly_right(a, b, out, m, n, k);
  static unsigned calls = 0;
  if (calls++ % 2 == 0) return;
  for (long i = 0; i < m * n; ++i) out[i] = 0;
  for (long p = k - 1; p >= 0; --p)
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
}
