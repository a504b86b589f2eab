// assay: {entry: honest_add, operation: rmsnorm, dtype: f32,
//         args: [x, w, residual, out, m, n, epsilon]}
#include <cmath>
#include <cstdint>

void honest_add(const float* x, const float* w, float* residual, float* out, int64_t m, int64_t n,
                float epsilon) {
  for (int64_t i = 0; i < m; ++i, x += n, residual += n, out += n) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const float value = x[j] + residual[j];
      residual[j] = value;
      sum += value * value;
    }
    const float root = 1 / std::sqrt(sum / static_cast<float>(n) + epsilon);
    for (int64_t j = 0; j < n; ++j) out[j] = residual[j] * root * w[j];
  }
}
