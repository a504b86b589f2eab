// description: keep the token in an array of its own
// family: layout
// hypothesis: The compiler cannot know that out is not a; a copy on the stack is nobody else's.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
//         divisibility: {n: 4}}
#include <cstdint>

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kLongest = 2048;
  float token[kLongest];
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t i = 0; i < k; ++i) token[i] = a[row * k + i];
    for (int64_t column = 0; column < n; column += 4) {
      const float* const weights = b + column * k;
      float sum[4] = {};
      for (int64_t i = 0; i < k; ++i)
        for (int at = 0; at < 4; ++at) sum[at] += token[i] * weights[at * k + i];
      for (int at = 0; at < 4; ++at) out[row * n + column + at] = sum[at];
    }
  }
}
