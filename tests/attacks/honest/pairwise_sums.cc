// assay: {entry: pairwise_sums, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Sums by halves, halves of halves, and so on.
#include "honest.h"

namespace {
float sum_of(const float* row, const float* b, long n, long first, long last) {
  if (last - first > 4) {
    const long middle = (first + last) / 2;
    return sum_of(row, b, n, first, middle) + sum_of(row, b, n, middle, last);
  }
  float sum = 0;
  for (long p = first; p < last; ++p) sum += row[p] * b[p * n];
  return sum;
}
}  // namespace

KERNEL(pairwise_sums) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) out[i * n + j] = sum_of(a + i * k, b + j, n, 0, k);
}
