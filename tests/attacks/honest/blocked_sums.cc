// assay: {entry: blocked_sums, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Sums of thirty-two terms each, which are then added.
#include <algorithm>

#include "honest.h"

KERNEL(blocked_sums) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long block = 0; block < k; block += 32) {
        float part = 0;
        for (long p = block; p < std::min(block + 32, k); ++p) part += a[i * k + p] * b[p * n + j];
        sum += part;
      }
      out[i * n + j] = sum;
    }
}
