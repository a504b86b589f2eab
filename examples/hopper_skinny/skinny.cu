// GEMM for decoding: few tokens (m up to 16), weights stored [n, k]. Memory bound: what counts is
// that many 16-byte loads of weights are under way at all times.
//
// assay: {name: skinny, entry: skinny, dtype: f16, layout: tn, args: [a, b, out, m, n, k],
//         tunables: {WARPS: [4, 8, 16], UNROLL: [2, 4, 8], TOKENS: [8, 16]},
//         constraints: [m <= TOKENS, TOKENS == 8 or m > 8, n % 16 == 0, k % 32 == 0],
//         launch: {grid: n // 16, block: WARPS * 32}, alignment: 16, targets: [sm_80, sm_90a]}
// assay: {name: skinny_dependent, entry: skinny, dtype: f16, layout: tn,
//         args: [a, b, out, m, n, k], flags: [-DDEPENDENT=1],
//         tunables: {WARPS: [4, 8, 16], UNROLL: [2, 4, 8], TOKENS: [8, 16]},
//         constraints: [m <= TOKENS, TOKENS == 8 or m > 8, n % 16 == 0, k % 32 == 0],
//         launch: {grid: n // 16, block: WARPS * 32, dependent: true}, alignment: 16,
//         targets: [sm_90a]}
//
// mma.m16n8k16 takes 16 rows of weights as its M side and 8 tokens as its N side. A dot product may
// visit k in any order, so thread t of a quad holds k = 8t .. 8t+7 of each block of 32, for weights
// and tokens alike: one 16-byte load each, straight into the registers that two mma want, with no
// shared memory between. The warps of a block share out k and add up at the end.
#include <cuda_fp16.h>

#if DEPENDENT
// Weights do not depend on the launch ahead of this one; tokens do.
#define WAIT_FOR_TOKENS() asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_NEXT_BEGIN() asm volatile("griddepcontrol.launch_dependents;")
#else
#define WAIT_FOR_TOKENS()
#define LET_NEXT_BEGIN()
#endif

namespace {

constexpr int kGroups = TOKENS / 8;

__device__ void mma(float (&sum)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                    unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

__device__ uint4 load_once(const __half* from) {
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from));
  return value;
}

}  // namespace

__global__ void __launch_bounds__(WARPS * 32) skinny(const __half* __restrict__ a,
                                                     const __half* __restrict__ b,
                                                     __half* __restrict__ out, int m, int n,
                                                     int k) {
  __shared__ float partial[WARPS][16 * TOKENS];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = lane / 4, part = lane % 4 * 8;
  const int first = blockIdx.x * 16;
  const __half* upper = b + static_cast<size_t>(first + row) * k + part;
  const __half* lower = upper + static_cast<size_t>(8) * k;
  const int blocks = k / 32;

  float sums[kGroups][4] = {};
  uint4 high[UNROLL], low[UNROLL];
  LET_NEXT_BEGIN();
  // The first weights are on their way before the tokens are waited for.
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const int block = warp + u * WARPS;
    if (block < blocks) {
      high[u] = load_once(upper + block * 32);
      low[u] = load_once(lower + block * 32);
    }
  }
  WAIT_FOR_TOKENS();
  for (int base = warp; base < blocks; base += WARPS * UNROLL) {
    uint4 tokens[UNROLL][kGroups];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int block = base + u * WARPS;
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        const int token = row + g * 8;
        tokens[u][g] = block < blocks && token < m
                           ? *reinterpret_cast<const uint4*>(a + static_cast<size_t>(token) * k +
                                                             block * 32 + part)
                           : make_uint4(0, 0, 0, 0);
      }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const int block = base + u * WARPS;
      if (block >= blocks) break;
      const uint4 w0 = high[u], w1 = low[u];
      const int next = block + WARPS * UNROLL;
      if (next < blocks) {
        high[u] = load_once(upper + next * 32);
        low[u] = load_once(lower + next * 32);
      }
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        mma(sums[g], w0.x, w1.x, w0.y, w1.y, tokens[u][g].x, tokens[u][g].y);
        mma(sums[g], w0.z, w1.z, w0.w, w1.w, tokens[u][g].z, tokens[u][g].w);
      }
    }
  }
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int weight = row + i / 2 * 8, token = g * 8 + lane % 4 * 2 + i % 2;
      partial[warp][token * 16 + weight] = sums[g][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 16 * TOKENS; i += WARPS * 32) {
    const int token = i / 16;
    if (token >= m) break;
    float sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += partial[w][i];
    out[static_cast<size_t>(token) * n + first + i % 16] = __float2half(sum);
  }
}
