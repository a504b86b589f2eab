// assay: {entry: split_k, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Four parts of k in scratch of their own, added in a fixed order.
#include <vector>

#include "honest.h"

KERNEL(split_k) {
  constexpr long kParts = 4;
  std::vector<float> parts(static_cast<size_t>(kParts * m * n), 0.0F);
  for (long part = 0; part < kParts; ++part)
    for (long i = 0; i < m; ++i)
      for (long p = part * k / kParts; p < (part + 1) * k / kParts; ++p)
        for (long j = 0; j < n; ++j)
          parts[static_cast<size_t>((part * m + i) * n + j)] += a[i * k + p] * b[p * n + j];
  const auto at = [&](long part, long i) { return parts[static_cast<size_t>(part * m * n + i)]; };
  for (long i = 0; i < m * n; ++i) out[i] = (at(0, i) + at(1, i)) + (at(2, i) + at(3, i));
}
