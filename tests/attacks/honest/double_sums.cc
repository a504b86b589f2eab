// assay: {entry: double_sums, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Sums in f64, rounded once.
#include "honest.h"

KERNEL(double_sums) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      double sum = 0;
      for (long p = 0; p < k; ++p) sum += static_cast<double>(a[i * k + p]) * b[p * n + j];
      out[i * n + j] = static_cast<float>(sum);
    }
}
