// assay: {entry: prefetching, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Asks for the next row of b ahead of time, beyond its end as well.
#include "honest.h"

KERNEL(prefetching) {
  for (long i = 0; i < m; ++i) {
    for (long j = 0; j < n; ++j) out[i * n + j] = 0;
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n; ++j) {
        if (j % 16 == 0) __builtin_prefetch(b + (p + 1) * n + j);
        out[i * n + j] += a[i * k + p] * b[p * n + j];
      }
  }
}
