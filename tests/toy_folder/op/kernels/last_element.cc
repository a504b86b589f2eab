// Wrong: one element of the second output, where it ends.
// assay: {entry: last_element, operation: toy, dtype: f32, args: [x, larger, smaller, n, limit]}

#include <cstdint>

void last_element(const float* x, float* larger, float* smaller, int64_t n, float limit) {
  for (int64_t i = 0; i < n; ++i) {
    larger[i] = x[i] > limit ? x[i] : limit;
    smaller[i] = x[i] > limit || i + 1 == n ? limit : x[i];
  }
}
