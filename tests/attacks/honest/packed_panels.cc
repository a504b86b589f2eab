// assay: {entry: packed_panels, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Packs b into panels of eight columns anew for each launch, as libraries do without constants.
#include <algorithm>
#include <vector>

#include "honest.h"

KERNEL(packed_panels) {
  constexpr long kWidth = 8;
  std::vector<float> panel(static_cast<size_t>(k * kWidth));
  for (long left = 0; left < n; left += kWidth) {
    const long width = std::min(kWidth, n - left);
    std::fill(panel.begin(), panel.end(), 0.0F);
    for (long p = 0; p < k; ++p) std::copy_n(b + p * n + left, width, panel.data() + p * kWidth);
    for (long i = 0; i < m; ++i) {
      float sums[kWidth] = {};
      for (long p = 0; p < k; ++p)
        for (long j = 0; j < kWidth; ++j) sums[j] += a[i * k + p] * panel[p * kWidth + j];
      std::copy_n(sums, width, out + i * n + left);
    }
  }
}
