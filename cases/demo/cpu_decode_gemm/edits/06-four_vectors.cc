// description: four sums of AVX-512
// family: vectors
// hypothesis: As before, and four divide what a token is long.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
//         divisibility: {k: 64}, targets: [x86_64+avx512f]}
#include <cstdint>
#include <immintrin.h>

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      const float* const token = a + row * k;
      const float* const weights = b + column * k;
      __m512 sum[4] = {};
      for (int64_t i = 0; i < k; i += 64)
        for (int at = 0; at < 4; ++at)
          sum[at] = _mm512_fmadd_ps(_mm512_loadu_ps(token + i + 16 * at),
                                    _mm512_loadu_ps(weights + i + 16 * at), sum[at]);
      out[row * n + column] = _mm512_reduce_add_ps(
          _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3])));
    }
}
