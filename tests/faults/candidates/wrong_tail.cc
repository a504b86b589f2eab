// assay: {entry: wrong_tail, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Forgets what is left of k beyond a multiple of eight.
#include "right.h"

KERNEL(wrong_tail) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k / 8 * 8; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
