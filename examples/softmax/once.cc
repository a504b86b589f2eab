// Every exponential once: the output holds them until the row's sum is known.
//   assay race once.cc --against naive.cc --shape m=64,n=1000
//
// assay: {entry: once, operation: softmax.op.yaml, dtype: f32, args: [x, out, m, n]}

#include <algorithm>
#include <cmath>
#include <cstdint>

void once(const float* x, float* out, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    const float largest = *std::max_element(x, x + n);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += out[j] = std::exp(x[j] - largest);
    const auto factor = static_cast<float>(1 / sum);
    for (int64_t j = 0; j < n; ++j) out[j] *= factor;
  }
}
