// description: four rows of weights at once
// family: rows
// hypothesis: The token is loaded once for four outputs, and memory sees four streams.
// assay: {name: decode, entry: decode, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
//         divisibility: {n: 8, k: 16}, targets: [x86_64+avx512f]}
#include <cstdint>
#include <immintrin.h>

constexpr int kRows = 4;

// kRows outputs at once, so that the token is loaded once for all of them.
static void some(const float* token, const float* weights, float* out, int64_t k) {
  __m512 sum[kRows] = {};
  for (int64_t i = 0; i < k; i += 16) {
    const __m512 part = _mm512_loadu_ps(token + i);
#pragma GCC unroll 4
    for (int row = 0; row < kRows; ++row) {
      sum[row] = _mm512_fmadd_ps(part, _mm512_loadu_ps(weights + row * k + i), sum[row]);
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kRows; ++row) out[row] = _mm512_reduce_add_ps(sum[row]);
}

// out[m, n] = a[m, k] * b, whose weights lie as [n, k].
void decode(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; column += kRows)
      some(a + row * k, b + column * k, out + row * n + column, k);
}
