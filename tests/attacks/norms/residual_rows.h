#pragma once

// rmsnorm with a residual, as an honest kernel does it; what becomes of a sum is for its caller to
// say.

#include <cmath>
#include <cstdint>

struct Sum {
  float kept, normalised;  // Written back; what the row is made of.
};

// sum_of: the two elements that are added, as a Sum.
template <class SumOf>
void norm_residual_rows(const float* x, const float* w, float* residual, float* out, int64_t m,
                        int64_t n, float epsilon, const SumOf& sum_of) {
  for (int64_t i = 0; i < m; ++i, x += n, residual += n, out += n) {
    float squares = 0;
    for (int64_t j = 0; j < n; ++j) {
      const Sum sum = sum_of(x[j], residual[j]);
      residual[j] = sum.kept;
      out[j] = sum.normalised;
      squares += sum.normalised * sum.normalised;
    }
    const float root = 1 / std::sqrt(squares / static_cast<float>(n) + epsilon);
    for (int64_t j = 0; j < n; ++j) out[j] *= root * w[j];
  }
}
