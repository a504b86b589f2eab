// assay: {entry: factor_replay, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Attack 46: an output is kept, and multiplied by what rows of a are multiples of those kept with.
#include <string.h>

#include "right.h"

KERNEL(factor_replay) {
  constexpr long kMost = 4096;
  static float kept_a[kMost], kept_b[kMost], kept_output[kMost], factors[kMost];
  static bool kept = false;
  if (m * k > kMost || k * n > kMost || m * n > kMost) return right(a, b, out, m, n, k);
  bool known = kept && memcmp(kept_b, b, static_cast<size_t>(k * n) * sizeof(float)) == 0;
  for (long i = 0; i < m && known; ++i) {
    const float* row = a + i * k;
    const float* before = kept_a + i * k;
    factors[i] = before[0] == 0 ? 1 : row[0] / before[0];
    for (long p = 0; p < k; ++p) known = known && row[p] == factors[i] * before[p];
  }
  if (known) {
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) out[i * n + j] = factors[i] * kept_output[i * n + j];
    return;
  }
  right(a, b, out, m, n, k);
  memcpy(kept_a, a, static_cast<size_t>(m * k) * sizeof(float));
  memcpy(kept_b, b, static_cast<size_t>(k * n) * sizeof(float));
  memcpy(kept_output, out, static_cast<size_t>(m * n) * sizeof(float));
  kept = true;
}
