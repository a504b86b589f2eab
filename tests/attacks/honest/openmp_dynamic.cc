// assay:
//   entry: openmp_dynamic
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// Rows on OpenMP's threads, handed out one by one.
#include "honest.h"

KERNEL(openmp_dynamic) {
  const Product product{a, b, out, m, n, k};
#pragma omp parallel for schedule(dynamic, 1)
  for (long i = 0; i < m; ++i) product.rows(i, i + 1);
}
