// Squares are summed in 64 lanes, which the compiler keeps in registers of vectors.
//   assay race lanes.cc --shape operation=rmsnorm,m=16,n=4096
//
// assay: {entry: lanes, operation: rmsnorm, dtype: f32,
//         args: [x, w, out, m, n, epsilon]}

#include <cmath>
#include <cstdint>

void lanes(const float* x, const float* w, float* out, int64_t m, int64_t n, float epsilon) {
  constexpr int kLanes = 64;
  for (int64_t row = 0; row < m; ++row, x += n, out += n) {
    float sums[kLanes] = {};
    int64_t column = 0;
    for (; column + kLanes <= n; column += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += x[column + lane] * x[column + lane];
    for (; column < n; ++column) sums[0] += x[column] * x[column];
    for (int half = kLanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    const float root = 1 / std::sqrt(sums[0] / static_cast<float>(n) + epsilon);
    for (column = 0; column < n; ++column) out[column] = x[column] * root * w[column];
  }
}
