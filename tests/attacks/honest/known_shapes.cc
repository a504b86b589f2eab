// assay: {entry: known_shapes, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Blocking from a table of shapes that were tuned before, and a default for all others; right
// for all.
#include <algorithm>

#include "honest.h"

namespace {
struct Tuned {
  long m, n, k, columns;
};
constexpr Tuned kTuned[] = {{24, 40, 57, 40}, {4, 512, 512, 128}, {64, 256, 256, 64}};

long columns_for(long m, long n, long k) {
  for (const Tuned& one : kTuned)
    if (one.m == m && one.n == n && one.k == k) return one.columns;
  return 32;
}
}  // namespace

KERNEL(known_shapes) {
  const long width = columns_for(m, n, k);
  for (long left = 0; left < n; left += width)
    for (long i = 0; i < m; ++i) {
      const long last = std::min(left + width, n);
      for (long j = left; j < last; ++j) out[i * n + j] = 0;
      for (long p = 0; p < k; ++p)
        for (long j = left; j < last; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
