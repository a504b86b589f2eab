// assay:
//   entry: openmp_simd
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp-simd]
// OpenMP's vectors without its threads.
#include <vector>

#include "honest.h"

KERNEL(openmp_simd) {
  std::vector<float> columns(static_cast<size_t>(n * k));
  transpose(b, columns.data(), n, k);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      const float *row = a + i * k, *column = columns.data() + j * k;
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (long p = 0; p < k; ++p) sum += row[p] * column[p];
      out[i * n + j] = sum;
    }
}
