// assay: {entry: fused_terms, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// One fused multiply-add for each term, by the library's function.
#include <cmath>

#include "honest.h"

KERNEL(fused_terms) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum = std::fma(a[i * k + p], b[p * n + j], sum);
      out[i * n + j] = sum;
    }
}
