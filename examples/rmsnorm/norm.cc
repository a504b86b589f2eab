// A naive kernel to begin with: out[m, n] = x[m, n] / sqrt(mean(x^2) + epsilon) * w[n].
//   assay race norm.cc --shape operation=rmsnorm,m=16,n=4096
//
// assay: {entry: norm, operation: rmsnorm, dtype: f32,
//         args: [x, w, out, m, n, epsilon]}

#include <cstdint>

void norm(const float* x, const float* w, float* out, int64_t m, int64_t n, float epsilon) {
  for (int64_t row = 0; row < m; ++row, x += n, out += n) {
    float sum = 0;
    for (int64_t column = 0; column < n; ++column) sum += x[column] * x[column];
    const float root = 1 / __builtin_sqrtf(sum / n + epsilon);
    for (int64_t column = 0; column < n; ++column) out[column] = x[column] * root * w[column];
  }
}
