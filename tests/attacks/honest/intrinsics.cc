// assay:
//   entry: intrinsics
//   dtype: f32
//   layout: tt
//   args: [a, b, out, m, n, k]
//   targets: [x86_64+avx2+fma]
//   flags: [-mavx2, -mfma]
// Eight columns at a time in AVX2's registers.
#include <immintrin.h>

#include "honest.h"

KERNEL(intrinsics) {
  for (long i = 0; i < m; ++i) {
    long j = 0;
    for (; j + 8 <= n; j += 8) {
      __m256 sums = _mm256_setzero_ps();
      for (long p = 0; p < k; ++p)
        sums = _mm256_fmadd_ps(_mm256_set1_ps(a[i * k + p]), _mm256_loadu_ps(b + p * n + j), sums);
      _mm256_storeu_ps(out + i * n + j, sums);
    }
    for (; j < n; ++j) {
      float sum = 0;
      for (long p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      out[i * n + j] = sum;
    }
  }
}
