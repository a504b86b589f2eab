// assay:
//   entry: openmp_sections
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// The halves as sections, with a barrier of OpenMP's behind them.
#include "honest.h"

KERNEL(openmp_sections) {
  const Product product{a, b, out, m, n, k};
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    product.rows(0, m / 2);
#pragma omp section
    product.rows(m / 2, m);
  }
}
