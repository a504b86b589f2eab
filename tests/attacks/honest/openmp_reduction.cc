// assay:
//   entry: openmp_reduction
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// Splits k over the threads, whose sums OpenMP adds.
#include <cstring>

#include "honest.h"

KERNEL(openmp_reduction) {
  for (long i = 0; i < m; ++i) {
    float* const row = out + i * n;
    std::memset(row, 0, bytes_of(n));
#pragma omp parallel for reduction(+ : row[:n])
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) row[j] += a[i * k + p] * b[p * n + j];
  }
}
