// assay:
//   entry: tunable_blocks
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   tunables: {ROWS: [1, 4]}
// Declares a tunable: one kernel for each of its values.
#include <algorithm>

#include "honest.h"

KERNEL(tunable_blocks) {
  for (long top = 0; top < m; top += ROWS) {
    const long last = std::min<long>(top + ROWS, m);
    for (long i = top * n; i < last * n; ++i) out[i] = 0;
    for (long p = 0; p < k; ++p)
      for (long i = top; i < last; ++i)
        for (long j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
