// assay: {entry: honest_norm, operation: rmsnorm, dtype: f32, args: [x, w, out, m, n, epsilon]}
#include <cmath>
#include <cstdint>

void honest_norm(const float* x, const float* w, float* out, int64_t m, int64_t n, float epsilon) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[j] * x[j];
    const float root = 1 / std::sqrt(sum / static_cast<float>(n) + epsilon);
    for (int64_t j = 0; j < n; ++j) out[j] = x[j] * root * w[j];
  }
}
