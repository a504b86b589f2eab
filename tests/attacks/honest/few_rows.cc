// assay: {entry: few_rows, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// A way of its own for up to four rows, and another for more.
#include "honest.h"

namespace {
template <long kRows>
void few(const float* a, const float* b, float* out, long n, long k) {
  for (long j = 0; j < n; ++j) {
    float sums[kRows] = {};
    for (long p = 0; p < k; ++p)
      for (long i = 0; i < kRows; ++i) sums[i] += a[i * k + p] * b[p * n + j];
    for (long i = 0; i < kRows; ++i) out[i * n + j] = sums[i];
  }
}
}  // namespace

KERNEL(few_rows) {
  switch (m) {
    case 1:
      return few<1>(a, b, out, n, k);
    case 2:
      return few<2>(a, b, out, n, k);
    case 3:
      return few<3>(a, b, out, n, k);
    case 4:
      return few<4>(a, b, out, n, k);
    default:
      return right(a, b, out, m, n, k);
  }
}
