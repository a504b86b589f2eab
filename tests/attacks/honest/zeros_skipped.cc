// assay: {entry: zeros_skipped, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Leaves out terms with a zero of a's, unless b has numbers that are not finite: sparse
// activations are worth that.
#include <cmath>

#include "honest.h"

KERNEL(zeros_skipped) {
  bool finite = true;
  for (long i = 0; i < k * n; ++i) finite = finite && std::isfinite(b[i]);
  if (!finite) return right(a, b, out, m, n, k);
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p) {
      const float x = a[i * k + p];
      if (x == 0) continue;
      for (long j = 0; j < n; ++j) out[i * n + j] += x * b[p * n + j];
    }
  }
}
