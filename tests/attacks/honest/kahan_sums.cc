// assay: {entry: kahan_sums, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Sums with what each addition lost, after Kahan.
#include <cmath>

#include "honest.h"

KERNEL(kahan_sums) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0, lost = 0;
      for (long p = 0; p < k; ++p) {
        const float term = a[i * k + p] * b[p * n + j] - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
      }
      // What an infinity loses is no number: then the plain sum is right.
      if (!std::isfinite(sum)) {
        sum = 0;
        for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      }
      out[i * n + j] = sum;
    }
}
