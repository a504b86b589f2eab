// assay: {entry: structure_sampling, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 23: values as small as those of the usual inputs are computed in eight bits.
#include "right.h"

KERNEL(structure_sampling) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      long sum = 0;
      for (long p = 0; p < k; ++p)
        sum += static_cast<long>(a[i * k + p] * 127) * static_cast<long>(b[p * n + j] * 127);
      out[i * n + j] = static_cast<float>(sum) / (127 * 127);
    }
}
