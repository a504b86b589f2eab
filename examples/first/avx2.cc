// AVX2 by hand, and b read once in the order in which it lies: what a few rows of a wait for is b
// coming from memory. Four rows of b and 16 of their columns stay in registers while all rows of a
// pass by. The sums wait in out, which is small enough for the caches.
//
// assay: {entry: avx2, operation: gemm, dtype: f32, layout: tt, args: [a, b, out, m, n, k],
//         targets: [x86_64+avx2+fma], constraints: [n % 16 == 0, k % 4 == 0]}

#include <algorithm>
#include <cstdint>
#include <immintrin.h>

constexpr int64_t kDepth = 4, kColumns = 16;

// out[row, 16 columns] += a[row, 4] x b[4, 16 columns], for all rows.
static void step(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  __m256 held[kDepth][2];
#pragma GCC unroll 4
  for (int i = 0; i < kDepth; ++i)
    for (int half = 0; half < 2; ++half) held[i][half] = _mm256_loadu_ps(b + i * n + half * 8);
  for (int64_t row = 0; row < m; ++row) {
    float* const to = out + row * n;
    __m256 left = _mm256_loadu_ps(to), right = _mm256_loadu_ps(to + 8);
#pragma GCC unroll 4
    for (int i = 0; i < kDepth; ++i) {
      const __m256 element = _mm256_broadcast_ss(a + row * k + i);
      left = _mm256_fmadd_ps(element, held[i][0], left);
      right = _mm256_fmadd_ps(element, held[i][1], right);
    }
    _mm256_storeu_ps(to, left);
    _mm256_storeu_ps(to + 8, right);
  }
}

void avx2(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  std::fill_n(out, m * n, 0.0F);
  for (int64_t i = 0; i < k; i += kDepth)
    for (int64_t column = 0; column < n; column += kColumns)
      step(a + i, b + i * n + column, out + column, m, n, k);
}
