// assay:
//   entry: openmp_tiles
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// Tiles of rows and columns, collapsed into one loop.
#include <algorithm>

#include "honest.h"

KERNEL(openmp_tiles) {
  constexpr long kRows = 4, kColumns = 16;
#pragma omp parallel for collapse(2) schedule(guided)
  for (long top = 0; top < m; top += kRows)
    for (long left = 0; left < n; left += kColumns)
      for (long i = top; i < std::min(top + kRows, m); ++i)
        for (long j = left; j < std::min(left + kColumns, n); ++j) {
          float sum = 0;
          for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
          out[i * n + j] = sum;
        }
}
