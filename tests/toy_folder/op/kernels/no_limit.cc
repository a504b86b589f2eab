// Wrong: the attribute is left out.
// assay: {entry: no_limit, operation: toy, dtype: f32, args: [x, larger, smaller, n, limit]}

#include <cstdint>

void no_limit(const float* x, float* larger, float* smaller, int64_t n, float) {
  for (int64_t i = 0; i < n; ++i) {
    larger[i] = x[i] > 0 ? x[i] : 0;
    smaller[i] = x[i] > 0 ? 0 : x[i];
  }
}
