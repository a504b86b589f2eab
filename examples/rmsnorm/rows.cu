// A block for a row, which stays in registers between the sum and the products.
//   assay race rows.cu --shape operation=rmsnorm,m=16,n=4096,dtype=bf16
//
// assay: {name: rows, entry: rows, operation: rmsnorm, dtype: [f16, bf16],
//         args: [x, w, out, m, n, epsilon], alignment: 16, specialised_on: [n],
//         flags: [-DDEPENDENT=0], tunables: {THREADS: [64, 128, 256, 512, 1024]},
//         constraints: [n % 8 == 0, THREADS * 8 <= n, n <= THREADS * 64],
//         launch: {grid: [m], block: [THREADS]}}
// assay: {name: rows_dependent, entry: rows, operation: rmsnorm, dtype: [f16, bf16],
//         args: [x, w, out, m, n, epsilon], alignment: 16, specialised_on: [n],
//         flags: [-DDEPENDENT=1], tunables: {THREADS: [64, 128, 256, 512, 1024]},
//         constraints: [n % 8 == 0, THREADS * 8 <= n, n <= THREADS * 64],
//         launch: {grid: [m], block: [THREADS], dependent: true}}
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if ASSAY_X_BF16
using Pair = __nv_bfloat162;
__device__ float2 wide(Pair pair) { return __bfloat1622float2(pair); }
__device__ Pair rounded(float x, float y) { return __floats2bfloat162_rn(x, y); }
using Element = __nv_bfloat16;
#else
using Pair = __half2;
__device__ float2 wide(Pair pair) { return __half22float2(pair); }
__device__ Pair rounded(float x, float y) { return __floats2half2_rn(x, y); }
using Element = __half;
#endif

struct alignas(16) Piece {  // What a thread loads at once.
  Pair pairs[4];
};
constexpr int kPieces = (ASSAY_N / 8 + THREADS - 1) / THREADS;  // Of a thread.

__global__ void __launch_bounds__(THREADS)
    rows(const Element* x, const Element* w, Element* out, int, int n, float epsilon) {
  __shared__ float sums[THREADS / 32];
  const int thread = threadIdx.x;
  const auto* weights = reinterpret_cast<const Piece*>(w);
  const auto* from = reinterpret_cast<const Piece*>(x + static_cast<long long>(blockIdx.x) * n);
  auto* to = reinterpret_cast<Piece*>(out + static_cast<long long>(blockIdx.x) * n);
  Piece values[kPieces], factors[kPieces];
  const auto each_piece = [&](auto&& use) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i)
      if (i * THREADS + thread < ASSAY_N / 8) use(i, i * THREADS + thread);
  };
  // Weights wait for nobody.
  each_piece([&](int i, int piece) { factors[i] = weights[piece]; });
#if DEPENDENT
  asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  each_piece([&](int i, int piece) { values[i] = from[piece]; });
  float sum = 0;
  each_piece([&](int i, int) {
#pragma unroll
    for (const Pair pair : values[i].pairs) {
      const float2 value = wide(pair);
      sum += value.x * value.x + value.y * value.y;
    }
  });
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffff, sum, lane);
  if (thread % 32 == 0) sums[thread / 32] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int warp = 0; warp < THREADS / 32; ++warp) sum += sums[warp];
  const float root = 1 / sqrtf(sum / n + epsilon);
  each_piece([&](int i, int piece) {
    Piece result;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const float2 value = wide(values[i].pairs[j]), factor = wide(factors[i].pairs[j]);
      result.pairs[j] = rounded(value.x * root * factor.x, value.y * root * factor.y);
    }
    to[piece] = result;
  });
}
