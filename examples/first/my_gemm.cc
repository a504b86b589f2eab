// A naive kernel to begin with: out[m, n] = a[m, k] x b[k, n].
//   assay race my_gemm.cc --shape m=4,n=512,k=512
//
// assay: {entry: my_gemm, operation: gemm, dtype: f32, layout: tt,
//         args: [a, b, out, m, n, k]}

#include <cstdint>

void my_gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; ++row)
    for (int64_t column = 0; column < n; ++column) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      out[row * n + column] = sum;
    }
}
