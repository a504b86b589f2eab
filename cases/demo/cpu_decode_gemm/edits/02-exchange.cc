// description: four columns at once
// family: loops
// hypothesis: Each addition waits for the one before it; four sums do not wait for one another.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
//         divisibility: {n: 4}}
#include <cstdint>

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; column += 4) {
      const float* const weights = b + column * k;
      float sum[4] = {};
      for (int64_t i = 0; i < k; ++i)
        for (int at = 0; at < 4; ++at) sum[at] += a[row * k + i] * weights[at * k + i];
      for (int at = 0; at < 4; ++at) out[row * n + column + at] = sum[at];
    }
}
