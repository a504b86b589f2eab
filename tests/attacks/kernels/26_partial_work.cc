// assay: {entry: partial_work, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 26: what is left of the columns beyond a multiple of sixteen is left out.
#include <string.h>

#include "right.h"

KERNEL(partial_work) {
  memset(out, 0, static_cast<size_t>(m * n) * sizeof(float));
  for (long i = 0; i < m; ++i)
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < n / 16 * 16; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
}
