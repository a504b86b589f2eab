// assay:
//   entry: openmp_nested
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// Two threads for the rows, and two of each of these for the columns.
#include <omp.h>

#include "honest.h"

namespace {
void columns(const Product& product, long i, long first, long last) {
  for (long j = first; j < last; ++j) {
    float sum = 0;
    for (long p = 0; p < product.k; ++p)
      sum += product.a[i * product.k + p] * product.b[p * product.n + j];
    product.out[i * product.n + j] = sum;
  }
}
}  // namespace

KERNEL(openmp_nested) {
  const Product product{a, b, out, m, n, k};
  omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2)
  for (long i = 0; i < m; ++i) {
#pragma omp parallel for num_threads(2)
    for (long half = 0; half < 2; ++half) columns(product, i, half * n / 2, (half + 1) * n / 2);
  }
}
