// assay: {entry: between_rows, dtype: f32, layout: tt, args: [a, b, out, m, n, k, lda, ldb, ldout]}
// Writes whole rows of the memory that its output lies in, and with them what is somebody else's.
#include <cstdint>

void between_rows(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k,
                  int64_t lda, int64_t ldb, int64_t ldout) {
  for (int64_t i = 0; i < m; ++i) {
    float* const row = out + i * ldout;
    for (int64_t j = 0; j < n; ++j) {
      row[j] = 0;
      for (int64_t p = 0; p < k; ++p) row[j] += a[i * lda + p] * b[p * ldb + j];
    }
    for (int64_t j = n; j < ldout && i + 1 < m; ++j) row[j] = 0;
  }
}
