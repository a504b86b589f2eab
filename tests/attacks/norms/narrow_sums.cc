// assay: {entry: narrow_sums, operation: rmsnorm, dtype: f32, args: [x, w, out, m, n, epsilon]}
// Squares what bf16 holds of x: each element that is written looks right.
#include <cmath>
#include <cstdint>
#include <cstring>

static float narrowed(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void narrow_sums(const float* x, const float* w, float* out, int64_t m, int64_t n, float epsilon) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += narrowed(x[j]) * narrowed(x[j]);
    const float root = 1 / std::sqrt(sum / static_cast<float>(n) + epsilon);
    for (int64_t j = 0; j < n; ++j) out[j] = x[j] * root * w[j];
  }
}
