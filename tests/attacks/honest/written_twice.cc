// assay: {entry: written_twice, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Writes a first estimate of half of the terms, and the whole sum over it.
#include "honest.h"

KERNEL(written_twice) {
  for (long terms = k / 2; terms <= k; terms += k - k / 2)
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) {
        float sum = 0;
        for (long p = 0; p < terms; ++p) sum += a[i * k + p] * b[p * n + j];
        *const_cast<volatile float*>(out + i * n + j) = sum;
      }
}
