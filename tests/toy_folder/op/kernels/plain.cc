// assay: {entry: plain, operation: toy, dtype: f32, args: [x, larger, smaller, n, limit]}

#include <cstdint>

void plain(const float* x, float* larger, float* smaller, int64_t n, float limit) {
  for (int64_t i = 0; i < n; ++i) {
    larger[i] = x[i] > limit ? x[i] : limit;
    smaller[i] = x[i] > limit ? limit : x[i];
  }
}
