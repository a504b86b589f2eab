// assay: {entry: tuned_at_first, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// Times two right ways at the first launch, by the clock, and keeps the faster one.
#include <chrono>

#include "honest.h"

namespace {
void by_elements(const float* a, const float* b, float* out, long m, long n, long k) {
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      out[i * n + j] = sum;
    }
}
}  // namespace

KERNEL(tuned_at_first) {
  using Way = void (*)(const float*, const float*, float*, long, long, long);
  static Way best = nullptr;
  if (best != nullptr) return best(a, b, out, m, n, k);
  const auto seconds = [&](Way way) {
    const auto start = std::chrono::steady_clock::now();
    way(a, b, out, m, n, k);
    return std::chrono::steady_clock::now() - start;
  };
  best = seconds(right) < seconds(by_elements) ? static_cast<Way>(right) : by_elements;
}
