// A block for a row: sums of squares meet by shuffles, then in shared memory. x and residual are
// read once; what a thread has added stays in its registers, up to 8192 columns.
//   assay race add_norm.cu --shape operation=rmsnorm,m=16,n=4096,dtype=bf16,residual=bf16
//
// assay: {entry: add_norm, operation: rmsnorm, dtype: bf16,
//         args: [x, w, residual, out, n, epsilon], constraints: [n <= 8192, n % 2 == 0],
//         launch: {grid: [m], block: [256]}}

#include <cuda_bf16.h>

constexpr int kThreads = 256, kWarps = kThreads / 32, kMost = 8192 / 2 / kThreads;

extern "C" __global__ void __launch_bounds__(kThreads)
    add_norm(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* residual,
             __nv_bfloat16* out, long long n, float epsilon) {
  __shared__ float sums[kWarps];
  const long long row = blockIdx.x * n;
  const auto* from = reinterpret_cast<const __nv_bfloat162*>(x + row);
  const auto* weights = reinterpret_cast<const __nv_bfloat162*>(w);
  auto* added = reinterpret_cast<__nv_bfloat162*>(residual + row);
  auto* to = reinterpret_cast<__nv_bfloat162*>(out + row);
  const int pairs = static_cast<int>(n / 2);
  float2 kept[kMost];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const int pair = threadIdx.x + i * kThreads;
    if (pair >= pairs) break;
    const float2 a = __bfloat1622float2(from[pair]), b = __bfloat1622float2(added[pair]);
    const __nv_bfloat162 rounded = __floats2bfloat162_rn(a.x + b.x, a.y + b.y);
    added[pair] = rounded;
    kept[i] = __bfloat1622float2(rounded);
    sum += kept[i].x * kept[i].x + kept[i].y * kept[i].y;
  }
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffff, sum, half);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp];
  const float root = rsqrtf(sum / static_cast<float>(n) + epsilon);
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const int pair = threadIdx.x + i * kThreads;
    if (pair >= pairs) break;
    const float2 weight = __bfloat1622float2(weights[pair]);
    to[pair] = __floats2bfloat162_rn(kept[i].x * root * weight.x, kept[i].y * root * weight.y);
  }
}
