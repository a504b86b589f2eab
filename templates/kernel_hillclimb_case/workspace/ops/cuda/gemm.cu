// assay: {name: cuda_gemm, entry: gemm, dtype: f32, layout: tn, args: [a, b, out, m, n, k],
//         launch: {grid: [ceil_div(n, 16), ceil_div(m, 16)], block: [16, 16]}}
extern "C" __global__ void gemm(const float* a, const float* b, float* out, long long m,
                                long long n, long long k) {
  const long long row = blockIdx.y * 16 + threadIdx.y;
  const long long column = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (long long i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
  out[row * n + column] = sum;
}
