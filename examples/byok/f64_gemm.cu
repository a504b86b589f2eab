// The FP64 GEMM for a GPU: one output element a thread, tiles of tile_m x tile_n, batches along z.
//
// assay: {name: F64GemmKernelCuda, entry: f64_gemm, dtype: f64, accumulate: f64,
//         layout: [ttt, ttn, tnt, tnn, ntt, ntn, nnt, nnn],
//         args: [a, b, out, l, m, n, k, a_l, a_m, a_k, b_l, b_k, b_n, out_l, out_m, out_n],
//         tunables: {tile_m: [32, 16], tile_n: [32, 16]}, constraints: [tile_m == tile_n],
//         launch: {grid: [ceil_div(n, tile_n), ceil_div(m, tile_m), l], block: [tile_n, tile_m]}}

__global__ void f64_gemm(const double* a, const double* b, double* out, long long l, long long m,
                         long long n, long long k, long long a_l, long long a_m, long long a_k,
                         long long b_l, long long b_k, long long b_n, long long out_l,
                         long long out_m, long long out_n) {
  const long long row = blockIdx.y * tile_m + threadIdx.y;
  const long long column = blockIdx.x * tile_n + threadIdx.x;
  const long long batch = blockIdx.z;
  if (batch >= l || row >= m || column >= n) return;
  double sum = 0;
  for (long long i = 0; i < k; ++i)
    sum += a[batch * a_l + row * a_m + i * a_k] * b[batch * b_l + i * b_k + column * b_n];
  out[batch * out_l + row * out_m + column * out_n] = sum;
}
