// GEMM for decoding: few tokens (m up to 16), weights stored [n, k]. Memory bound: what counts is
// that many bytes of weights are under way at all times, in every launch from its first moment.
//
// Two ways of keeping them under way, each with its tunables; and each once more as a kernel that
// waits for its tokens by itself, and fetches its first weights before (dependent launch).
//
// assay: {name: ring, entry: skinny, dtype: [f16, bf16], layout: tn, args: [a, b, out, n],
//         flags: [-DRING=1], specialised_on: [m, k], targets: [sm_80, sm_90a], alignment: 16,
//         tunables: {WARPS: [8, 16], CHUNK: [128, 256], STAGES: [2, 3, 4], BLOCKS: [132, 65536]},
//         constraints: [m <= 16, n % 16 == 0, k % (WARPS * CHUNK // 2) == 0,
//                       WARPS * CHUNK * STAGES <= 12288,
//                       BLOCKS > 132 or WARPS * CHUNK * STAGES >= 8192,
//                       BLOCKS == 132 or WARPS * CHUNK * STAGES <= 6144],
//         launch: {grid: "min(BLOCKS, n // 16)", block: WARPS * 32,
//                  shared: "WARPS * (16 * CHUNK * STAGES + 1024 * ceil_div(m, 8))"}}
// assay: {name: registers, entry: skinny, dtype: [f16, bf16], layout: tn, args: [a, b, out, n],
//         flags: [-DRING=0], specialised_on: [m, k], targets: [sm_80, sm_90a], alignment: 16,
//         tunables: {WARPS: [4, 8, 16], STAGES: [1, 2, 4], BLOCKS: [132, 65536]},
//         constraints: [m <= 16, n % 16 == 0, k % (WARPS * 64 * STAGES) == 0,
//                       WARPS * STAGES >= 8, WARPS * STAGES <= 32,
//                       BLOCKS > 132 or WARPS == 16],
//         launch: {grid: "min(BLOCKS, n // 16)", block: WARPS * 32,
//                  shared: "WARPS * 512 * ceil_div(m, 8)"}}
// assay: {name: ring_dependent, entry: skinny, dtype: [f16, bf16], layout: tn,
//         args: [a, b, out, n], flags: [-DRING=1, -DDEPENDENT=1], specialised_on: [m, k],
//         targets: [sm_90a], alignment: 16,
//         tunables: {WARPS: [8, 16], CHUNK: [128, 256], STAGES: [2, 3, 4], BLOCKS: [132, 65536]},
//         constraints: [m <= 16, n % 16 == 0, k % (WARPS * CHUNK // 2) == 0,
//                       WARPS * CHUNK * STAGES <= 12288,
//                       BLOCKS > 132 or WARPS * CHUNK * STAGES >= 8192,
//                       BLOCKS == 132 or WARPS * CHUNK * STAGES <= 6144],
//         launch: {grid: "min(BLOCKS, n // 16)", block: WARPS * 32, dependent: true,
//                  shared: "WARPS * (16 * CHUNK * STAGES + 1024 * ceil_div(m, 8))"}}
// assay: {name: registers_dependent, entry: skinny, dtype: [f16, bf16], layout: tn,
//         args: [a, b, out, n], flags: [-DRING=0, -DDEPENDENT=1], specialised_on: [m, k],
//         targets: [sm_90a], alignment: 16,
//         tunables: {WARPS: [4, 8, 16], STAGES: [1, 2, 4], BLOCKS: [132, 65536]},
//         constraints: [m <= 16, n % 16 == 0, k % (WARPS * 64 * STAGES) == 0,
//                       WARPS * STAGES >= 8, WARPS * STAGES <= 32,
//                       BLOCKS > 132 or WARPS == 16],
//         launch: {grid: "min(BLOCKS, n // 16)", block: WARPS * 32, dependent: true,
//                  shared: "WARPS * 512 * ceil_div(m, 8)"}}
//
// mma.m16n8k16 takes 16 rows of weights as its M side and 8 tokens as its N side. A dot product may
// visit k in any order, so thread t of a quad holds k = 8t .. 8t+7 of each block of 32, for weights
// and tokens alike: 16 bytes at once are the registers that two mma want.
//
// The warps of a block share out k and add up in shared memory. A block walks over tiles of 16 rows
// of weights (BLOCKS: as many blocks as the GPU has multiprocessors, or one for each tile) and
// fetches the next tile's weights while it finishes the last. Weights come through
//   ring: each warp's own stages of shared memory, filled by asynchronous copies of whole rows of
//     CHUNK bytes: the fastest where launches follow their like, and on long weights;
//   registers: loads into registers, STAGES ahead. It hardly needs shared memory, so that the
//     multiprocessors need not be set up anew between it and kernels that use none, which costs
//     a microsecond a launch on an H200.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef CHUNK
#define CHUNK 128  // Bytes of a row that a warp takes at once.
#endif
#ifndef SWIGLU
#define SWIGLU 0   // 1: rows of weights are gate and up in turns, out is half as wide.
#endif
#if SWIGLU
#include "../hopper_swiglu/swiglu.h"
#endif

namespace {

#if ASSAY_A_BF16
using Element = __nv_bfloat16;
#define MMA_TYPES "bf16.bf16"
__device__ Element rounded(float value) { return __float2bfloat16(value); }
#else
using Element = __half;
#define MMA_TYPES "f16.f16"
__device__ Element rounded(float value) { return __float2half(value); }
#endif

constexpr int m = ASSAY_M, k = ASSAY_K;
constexpr int kRows = 16;                  // Of weights in a tile: the M side of an mma.
constexpr int kGroups = (m + 7) / 8;       // Of eight tokens: its N side.
constexpr int kStep = CHUNK / 2;           // Elements of k that a warp takes at once.
constexpr int kParts = CHUNK / 128;        // Of 64 elements: what a quad holds in two loads.
constexpr int kSteps = k / kStep / WARPS;  // Of a warp in a tile.
// Tokens stay in registers where these suffice; otherwise each step loads its own.
constexpr bool kKeepsTokens = kSteps * kParts * kGroups * 8 <= 64;
constexpr int kStageBytes = kRows * CHUNK;
constexpr int kSums = kRows * kGroups * 8;

using Tokens = uint4[kParts][kGroups][2];  // What a thread holds of one step.

__device__ __forceinline__ void multiply(float (&sum)[4], const uint4& high, const uint4& low,
                                         const uint4& tokens) {
#define MMA(a0, a1, a2, a3, b0, b1)                                         \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." MMA_TYPES           \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])     \
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1))
  MMA(high.x, low.x, high.y, low.y, tokens.x, tokens.y);
  MMA(high.z, low.z, high.w, low.w, tokens.z, tokens.w);
#undef MMA
}

// What L2 is told of weights: each is read once. In a chain that is worth up to 1 us a launch.
__device__ __forceinline__ unsigned long long read_once() {
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ uint4 load_tokens(const Element* from) {
  uint4 value;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

#if RING
#define SHARED_BUFFERS 2
// A warp's own stages in shared memory, filled by asynchronous copies: as many bytes are under way
// as it has stages, and no register holds them.
struct Stream {
  unsigned base;
  unsigned long long once = read_once();
  int slot = 0;
  int row, piece;
  __device__ __forceinline__ Stream(char* memory, int warp, int lane)
      : base(static_cast<unsigned>(__cvta_generic_to_shared(memory)) + warp * STAGES * kStageBytes),
        row(lane / (CHUNK / 16)),
        piece(lane % (CHUNK / 16)) {}
  __device__ __forceinline__ const Element* origin(const Element* weights) const {
    return weights + static_cast<size_t>(row) * k + piece * 8;
  }
  // 16 bytes at `piece` of row r lie so that the lanes of a quarter of a warp read all banks.
  __device__ __forceinline__ static unsigned place(int row, int piece) {
    return row * CHUNK + (piece ^ (row & 1) * 4) * 16;
  }
  __device__ __forceinline__ void fetch(int at, const Element* from, bool wanted) {
    if (wanted) {
#pragma unroll
      for (int r = 0; r < kRows; r += 512 / CHUNK)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                         base + at * kStageBytes + place(r + row, piece)),
                     "l"(from + static_cast<size_t>(r) * k), "l"(once)
                     : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ static uint4 take(unsigned from) {
    uint4 value;
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(from)
                 : "memory");
    return value;
  }
  __device__ __forceinline__ void step(float (&sums)[kGroups][4], const Tokens& tokens, int lane,
                                       const Element* next, bool wanted, int) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
    __syncwarp();
    const unsigned stage = base + slot * kStageBytes;
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const unsigned at = stage + place(lane / 4, part * 8 + half * 4 + lane % 4);
        const uint4 high = take(at), low = take(at + 8 * CHUNK);
#pragma unroll
        for (int g = 0; g < kGroups; ++g) multiply(sums[g], high, low, tokens[part][g][half]);
      }
    __syncwarp();
    fetch(slot, next, wanted);
    if (++slot == STAGES) slot = 0;
  }
};
#else
#define SHARED_BUFFERS 1
static_assert(CHUNK == 128 && kSteps % STAGES == 0);
// A warp's stages in its registers.
struct Stream {
  uint4 held[STAGES][4];
  unsigned long long once = read_once();
  int row, piece;
  __device__ __forceinline__ Stream(char*, int, int lane) : row(lane / 4), piece(lane % 4) {}
  __device__ __forceinline__ const Element* origin(const Element* weights) const {
    return weights + static_cast<size_t>(row) * k + piece * 8;
  }
  __device__ __forceinline__ void fetch(int at, const Element* from, bool wanted) {
    if (!wanted) return;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile(
          "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
          : "=r"(held[at][i].x), "=r"(held[at][i].y), "=r"(held[at][i].z), "=r"(held[at][i].w)
          : "l"(from + i % 2 * 32 + static_cast<size_t>(i / 2 * 8) * k), "l"(once));
  }
  __device__ __forceinline__ void step(float (&sums)[kGroups][4], const Tokens& tokens, int,
                                       const Element* next, bool wanted, int slot) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
        multiply(sums[g], held[slot][half], held[slot][half + 2], tokens[0][g][half]);
    fetch(slot, next, wanted);
  }
};
#endif

}  // namespace

__global__ void __launch_bounds__(WARPS * 32)
    skinny(const Element* __restrict__ a, const Element* __restrict__ b, Element* __restrict__ out,
           int n) {
  extern __shared__ __align__(128) char memory[];
  float* const partial =
      reinterpret_cast<float*>(memory + (RING ? WARPS * STAGES * kStageBytes : 0));
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tiles = n / kRows;
  Stream stream(memory, warp, lane);
#if DEPENDENT
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  // The next weights to load: `ahead` steps of this warp, over all the tiles of this block.
  const Element* from =
      stream.origin(b) + static_cast<size_t>(blockIdx.x) * kRows * k + warp * kStep;
  int load_tile = blockIdx.x, load_step = 0;
  const auto advance = [&] {
    from += WARPS * kStep;
    if (++load_step == kSteps) {
      load_step = 0;
      load_tile += gridDim.x;
      from += (static_cast<size_t>(gridDim.x) * kRows - 1) * k;
    }
  };
#pragma unroll
  for (int s = 0; s < STAGES; ++s) {
    stream.fetch(s, from, load_tile < tiles);
    advance();
  }
#if DEPENDENT
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const auto get = [&](Tokens& tokens, int step) {
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int token = lane / 4 + g * 8;
          tokens[part][g][half] = token < m ? load_tokens(a + static_cast<size_t>(token) * k +
                                                          (warp + step * WARPS) * kStep +
                                                          part * 64 + half * 32 + lane % 4 * 8)
                                            : make_uint4(0, 0, 0, 0);
        }
  };
  Tokens kept[kKeepsTokens ? kSteps : 1];
#pragma unroll
  for (int i = 0; i < (kKeepsTokens ? kSteps : 1); ++i) get(kept[i], i);
  int buffer = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float sums[kGroups][4] = {};
    if constexpr (kKeepsTokens) {
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        stream.step(sums, kept[i], lane, from, load_tile < tiles, i % STAGES);
        advance();
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < kSteps; i += RING ? 1 : STAGES) {
#pragma unroll
        for (int u = 0; u < (RING ? 1 : STAGES); ++u) {
          Tokens now;
#pragma unroll
          for (int part = 0; part < kParts; ++part)
#pragma unroll
            for (int g = 0; g < kGroups; ++g)
#pragma unroll
              for (int half = 0; half < 2; ++half) now[part][g][half] = kept[0][part][g][half];
          get(kept[0], i + u + 1 < kSteps ? i + u + 1 : 0);
          stream.step(sums, now, lane, from, load_tile < tiles, u);
          advance();
        }
      }
    }
    float* const mine = partial + (buffer * WARPS + warp) * kSums;
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int token = g * 8 + lane % 4 * 2 + i % 2;
        if (token < m) mine[token * kRows + lane / 4 + i / 2 * 8] = sums[g][i];
      }
    __syncthreads();
#if SWIGLU
    for (int i = threadIdx.x; i < kRows / 2 * m; i += WARPS * 32) {
      float gate = 0, up = 0;
#pragma unroll
      for (int w = 0; w < WARPS; ++w) {
        const float* const pair = partial + (buffer * WARPS + w) * kSums + i * 2;
        gate += pair[0], up += pair[1];
      }
      out[static_cast<size_t>(i / (kRows / 2)) * (n / 2) + tile * (kRows / 2) + i % (kRows / 2)] =
          rounded(swiglu(gate, up));
    }
#else
    for (int i = threadIdx.x; i < kRows * m; i += WARPS * 32) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < WARPS; ++w) sum += partial[(buffer * WARPS + w) * kSums + i];
      out[static_cast<size_t>(i / kRows) * n + tile * kRows + i % kRows] = rounded(sum);
    }
#endif
    if (SHARED_BUFFERS == 2)
      buffer ^= 1;
    else if (tile + gridDim.x < tiles)
      __syncthreads();
  }
}
