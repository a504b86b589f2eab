// assay:
//   entry: openmp_tasks
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   flags: [-fopenmp]
// One thread makes a task of each two rows, whoever is free does them.
#include <algorithm>

#include "honest.h"

KERNEL(openmp_tasks) {
  const Product product{a, b, out, m, n, k};
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < m; i += 2) {
#pragma omp task firstprivate(i)
    product.rows(i, std::min(i + 2, m));
  }
}
