// A naive kernel to begin with: residual[m, n] += x[m, n], and
// out[m, n] = residual[m, n] / sqrt(mean(residual^2) + epsilon) * w[n].
//   assay race add_norm.cc --shape operation=rmsnorm,m=16,n=4096,residual=f32
//
// assay: {entry: add_norm, operation: rmsnorm, dtype: f32,
//         args: [x, w, residual, out, m, n, epsilon]}

#include <cstdint>

void add_norm(const float* x, const float* w, float* residual, float* out, int64_t m, int64_t n,
              float epsilon) {
  for (int64_t row = 0; row < m; ++row, x += n, residual += n, out += n) {
    float sum = 0;
    for (int64_t column = 0; column < n; ++column) {
      residual[column] = x[column] + residual[column];
      const float value = residual[column];
      sum += value * value;
    }
    const float root = 1 / __builtin_sqrtf(sum / n + epsilon);
    for (int64_t column = 0; column < n; ++column)
      out[column] = residual[column] * root * w[column];
  }
}
