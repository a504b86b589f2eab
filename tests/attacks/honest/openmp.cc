// assay: {entry: openmp, dtype: f32, layout: tt, args: [a, b, out, m, n, k], flags: [-fopenmp]}
// Rows on OpenMP's threads.
#include "../kernels/right.h"

KERNEL(openmp) {
#pragma omp parallel for
  for (long i = 0; i < m; ++i) right(a + i * k, b, out + i * n, 1, n, k);
}
