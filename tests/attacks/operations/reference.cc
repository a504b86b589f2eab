// What is right: operands come as float64, in the order of softmax.op.yaml, and sizes behind them.

#include <algorithm>
#include <cmath>
#include <cstdint>

void softmax_reference(const double* x, double* out, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    const double largest = *std::max_element(x, x + n);
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::exp(x[j] - largest);
    for (int64_t j = 0; j < n; ++j) out[j] = std::exp(x[j] - largest) / sum;
  }
}
