// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k, threads]}
#include <cstdint>

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k, int64_t) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
      out[row * n + column] = sum;
    }
}
