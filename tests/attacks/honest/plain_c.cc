// assay: {entry: plain_c, dtype: f32, layout: tt, args: [a, b, out, m, n, k]}
// As a program in C would have it: no header, and restricted pointers.
extern "C" void plain_c(const float* __restrict a, const float* __restrict b, float* __restrict out,
                        long m, long n, long k) {
  long i, j, p;
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++) {
      float sum = 0.0f;
      for (p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
      out[i * n + j] = sum;
    }
}
