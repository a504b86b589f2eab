// assay: {entry: extended_sums, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Sums in the x87's eighty bits.
#include "honest.h"

KERNEL(extended_sums) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      long double sum = 0;
      for (long p = 0; p < k; ++p) sum += static_cast<long double>(a[i * k + p]) * b[p * n + j];
      out[i * n + j] = static_cast<float>(sum);
    }
}
