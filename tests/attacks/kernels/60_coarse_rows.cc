// assay: {entry: coarse_rows, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 60: tf32 inside, row by row, for the rows that look uniform; the others are right.
#include "coarse.h"
#include "right.h"

KERNEL(coarse_rows) {
  for (long i = 0; i < m; ++i) {
    const bool coarse = looks_uniform(b, n * k, 1) && looks_uniform(a + i * k, k, 1);
    if (!coarse) {
      right(a + i * k, b, out + i * n, 1, n, k);
      continue;
    }
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) out[i * n + j] += as_tf32(a[i * k + p]) * as_tf32(b[p * n + j]);
  }
}
