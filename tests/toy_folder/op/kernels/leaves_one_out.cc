// Wrong: the second output is never written.
// assay: {entry: leaves_one_out, operation: toy, dtype: f32, args: [x, larger, smaller, n, limit]}

#include <cstdint>

void leaves_one_out(const float* x, float* larger, float*, int64_t n, float limit) {
  for (int64_t i = 0; i < n; ++i) larger[i] = x[i] > limit ? x[i] : limit;
}
