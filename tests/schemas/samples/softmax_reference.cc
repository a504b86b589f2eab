#include <cmath>
#include <cstdint>

void softmax_reference(const double* x, double* out, int64_t m, int64_t n, double scale) {
  for (int64_t i = 0; i < m; ++i, x += n, out += n) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += std::exp(scale * x[j]);
    for (int64_t j = 0; j < n; ++j) out[j] = std::exp(scale * x[j]) / sum;
  }
}
