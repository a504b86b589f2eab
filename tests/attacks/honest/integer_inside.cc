// assay: {entry: integer_inside, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Adds in integers of 128 bits where all numbers are small whole ones, and plainly elsewhere.
#include <cmath>

#include "honest.h"

namespace {
bool are_whole(const float* values, long count) {
  for (long i = 0; i < count; ++i)
    if (!(std::fabs(values[i]) < 4096) || values[i] != std::rint(values[i])) return false;
  return true;
}
}  // namespace

KERNEL(integer_inside) {
  if (!are_whole(a, m * k) || !are_whole(b, k * n)) return right(a, b, out, m, n, k);
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      __int128 sum = 0;
      for (long p = 0; p < k; ++p)
        sum += static_cast<long>(a[i * k + p]) * static_cast<long>(b[p * n + j]);
      out[i * n + j] = static_cast<float>(sum);
    }
}
