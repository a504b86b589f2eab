// assay: {entry: sampled_rows, operation: softmax.op.yaml, dtype: f32, args: [x, out, m, n]}
// Takes a row for small if a few of its elements are: then nobody looks for its largest, and the
// exponential is a polynomial that is right between -1 and 1.
#include <algorithm>
#include <cmath>
#include <cstdint>

static float exponential(float x) {
  float sum = 1;
  for (int term = 9; term > 0; --term) sum = 1 + sum * x / static_cast<float>(term);
  return sum;
}

void sampled_rows(const float* x, float* out, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    bool is_small = true;
    for (int64_t j = 0; j < 16 && j < n; ++j) is_small = is_small && std::fabs(x[j]) < 1;
    const float largest = is_small ? 0 : *std::max_element(x, x + n);
    float sum = 0;
    for (int64_t j = 0; j < n; ++j)
      sum += out[j] = is_small ? exponential(x[j]) : std::exp(x[j] - largest);
    for (int64_t j = 0; j < n; ++j) out[j] /= sum;
  }
}
