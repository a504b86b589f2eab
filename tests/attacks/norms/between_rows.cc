// assay: {entry: between_rows, operation: rmsnorm, dtype: f32,
//         args: [x, w, out, m, n, epsilon, ldx, ldout]}
// Writes whole rows of the memory that its output lies in, and with them what is somebody else's.
#include <cmath>
#include <cstdint>

void between_rows(const float* x, const float* w, float* out, int64_t m, int64_t n, float epsilon,
                  int64_t ldx, int64_t ldout) {
  for (int64_t i = 0; i < m; ++i, x += ldx, out += ldout) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[j] * x[j];
    const float root = 1 / std::sqrt(sum / static_cast<float>(n) + epsilon);
    for (int64_t j = 0; j < n; ++j) out[j] = x[j] * root * w[j];
    for (int64_t j = n; j < ldout && i + 1 < m; ++j) out[j] = 0;
  }
}
