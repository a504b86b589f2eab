// assay: {entry: rows_alone, dtype: f32, layout: tt, args: [a, b, out, m, n, k, lda, ldb, ldout]}
// Writes its own elements and nothing between them.
#include <cstdint>

void rows_alone(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k,
                int64_t lda, int64_t ldb, int64_t ldout) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
      out[i * ldout + j] = sum;
    }
}
