// A cheat: it declares dependent launch and leaves out griddepcontrol.wait, so in a model it would
// read the activations of the step before. Launched where its inputs have long been there it is
// right, and fast. With WAIT=1 it is honest.
//
// assay: {name: no_wait, entry: no_wait, dtype: f16, layout: tn, args: [a, b, out, m, n, k],
//         tunables: {WAIT: [0, 1]}, constraints: [m <= 8, n % 8 == 0, k % 256 == 0], alignment: 16,
//         launch: {grid: n // 8, block: 256, dependent: true}, targets: [sm_90a]}
#include <cuda_fp16.h>

// One warp for each column of the output; lanes share out k in steps of 16 bytes.
__global__ void __launch_bounds__(256) no_wait(const __half* a, const __half* b, __half* out, int m,
                                               int n, int k) {
  constexpr int kMostTokens = 8;
  asm volatile("griddepcontrol.launch_dependents;");
#if WAIT
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const int column = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float sums[kMostTokens] = {};
  for (int at = lane * 8; at < k; at += 256) {
    const uint4 packed = *reinterpret_cast<const uint4*>(b + static_cast<size_t>(column) * k + at);
    const __half* weights = reinterpret_cast<const __half*>(&packed);
#pragma unroll
    for (int token = 0; token < kMostTokens; ++token) {
      if (token >= m) break;
      const uint4 row = *reinterpret_cast<const uint4*>(a + static_cast<size_t>(token) * k + at);
      const __half* tokens = reinterpret_cast<const __half*>(&row);
#pragma unroll
      for (int i = 0; i < 8; ++i)
        sums[token] += __half2float(tokens[i]) * __half2float(weights[i]);
    }
  }
#pragma unroll
  for (int token = 0; token < kMostTokens; ++token) {
    if (token >= m) break;
    float sum = sums[token];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0) out[static_cast<size_t>(token) * n + column] = __float2half(sum);
  }
}
