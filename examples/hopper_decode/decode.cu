// GEMM for decoding: up to 64 tokens, weights stored [n, k]. Memory bound: what counts is that
// bytes of weights are under way from the first moment of a launch to its last. README.md says what
// each choice below was worth on a GPU.
//
// assay: {name: tiles, entry: decode, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, out, m, n, k], alignment: 16,
//         flags: [-DCOPIES=0, -DDEPENDENT=0],
//         tunables: {TOKENS: [8, 16, 32, 64], SPLIT: [1, 2], PARTS: [1, 2, 4, 8], EARLY: [64],
//                    RESIDENT: [1, 2], ROWS: [16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
//                                        192, 208, 224, 240, 256]},
//         constraints: [m <= TOKENS, TOKENS == 8 or 2 * m > TOKENS, k % 8 == 0,
//                       PARTS * (ROWS + TOKENS) * RESIDENT >= 192, PARTS * (ROWS + TOKENS) <= 540,
//                       n % 8 == 0, RESIDENT == 1 or SPLIT == 1, RESIDENT == 1 or ROWS == 112,
//                       RESIDENT == 1 or PARTS == 1, n <= 33792 or ROWS == 112 * (3 - RESIDENT),
//                       "n > 33792 or ceil_div(n, ROWS) * SPLIT <= 132 * RESIDENT",
//                       "n > 33792 or ROWS == 16 or
//                        ceil_div(n, ROWS - 16) * SPLIT > 132 * RESIDENT"],
//         launch: {grid: "ceil_div(n, ROWS) * SPLIT", cluster: SPLIT, block: 192,
//                  shared: 218112 - (RESIDENT - 1) * 107520,
//                  maps: {a: {box: [64, TOKENS], swizzle: 128, promotion: 256},
//                         b: {box: [64, ROWS], swizzle: 128, promotion: 256}}}}
// assay: {name: tiles_dependent, entry: decode, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, out, m, n, k], alignment: 16,
//         flags: [-DCOPIES=0, -DDEPENDENT=1],
//         tunables: {TOKENS: [8, 16, 32, 64], SPLIT: [1, 2], PARTS: [1, 2, 4, 8], EARLY: [48, 64],
//                    RESIDENT: [1, 2], ROWS: [16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
//                                        192, 208, 224, 240, 256]},
//         constraints: [m <= TOKENS, TOKENS == 8 or 2 * m > TOKENS, k % 8 == 0,
//                       PARTS * (ROWS + TOKENS) * RESIDENT >= 192, PARTS * (ROWS + TOKENS) <= 540,
//                       n % 8 == 0, RESIDENT == 1 or SPLIT == 1, RESIDENT == 1 or ROWS == 112,
//                       RESIDENT == 1 or PARTS == 1, n <= 33792 or ROWS == 112 * (3 - RESIDENT),
//                       "n > 33792 or ceil_div(n, ROWS) * SPLIT <= 132 * RESIDENT",
//                       "n > 33792 or ROWS == 16 or
//                        ceil_div(n, ROWS - 16) * SPLIT > 132 * RESIDENT"],
//         launch: {grid: "ceil_div(n, ROWS) * SPLIT", cluster: SPLIT, block: 192,
//                  shared: 218112 - (RESIDENT - 1) * 107520, dependent: true,
//                  maps: {a: {box: [64, TOKENS], swizzle: 128, promotion: 256},
//                         b: {box: [64, ROWS], swizzle: 128, promotion: 256}}}}
// assay: {name: copies, entry: decode, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, b, out, m, n, k], alignment: 16,
//         flags: [-DCOPIES=1, -DDEPENDENT=0],
//         tunables: {TOKENS: [8, 16, 32, 64], SPLIT: [1, 2], PARTS: [1, 2, 4], EARLY: [64],
//                    RESIDENT: [1], ROWS: [16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
//                                        192, 208, 224, 240, 256]},
//         constraints: [m <= TOKENS, TOKENS == 8 or 2 * m > TOKENS, k % (64 * PARTS) == 0,
//                       PARTS * (ROWS + TOKENS) * RESIDENT >= 192, PARTS * (ROWS + TOKENS) <= 540,
//                       n % 8 == 0, RESIDENT == 1 or SPLIT == 1, RESIDENT == 1 or ROWS == 112,
//                       RESIDENT == 1 or PARTS == 1, n <= 33792 or ROWS == 112 * (3 - RESIDENT),
//                       "n > 33792 or ceil_div(n, ROWS) * SPLIT <= 132 * RESIDENT",
//                       "n > 33792 or ROWS == 16 or
//                        ceil_div(n, ROWS - 16) * SPLIT > 132 * RESIDENT"],
//         launch: {grid: "ceil_div(n, ROWS) * SPLIT", cluster: SPLIT, block: 288,
//                  shared: 218112 - (RESIDENT - 1) * 107520,
//                  maps: {a: {box: [64, TOKENS], swizzle: 128, promotion: 256}}}}
// assay: {name: copies_dependent, entry: decode, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, b, out, m, n, k], alignment: 16,
//         flags: [-DCOPIES=1, -DDEPENDENT=1],
//         tunables: {TOKENS: [8, 16, 32, 64], SPLIT: [1, 2], PARTS: [1, 2, 4], EARLY: [48, 64],
//                    RESIDENT: [1], ROWS: [16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176,
//                                        192, 208, 224, 240, 256]},
//         constraints: [m <= TOKENS, TOKENS == 8 or 2 * m > TOKENS, k % (64 * PARTS) == 0,
//                       PARTS * (ROWS + TOKENS) * RESIDENT >= 192, PARTS * (ROWS + TOKENS) <= 540,
//                       n % 8 == 0, RESIDENT == 1 or SPLIT == 1, RESIDENT == 1 or ROWS == 112,
//                       RESIDENT == 1 or PARTS == 1, n <= 33792 or ROWS == 112 * (3 - RESIDENT),
//                       "n > 33792 or ceil_div(n, ROWS) * SPLIT <= 132 * RESIDENT",
//                       "n > 33792 or ROWS == 16 or
//                        ceil_div(n, ROWS - 16) * SPLIT > 132 * RESIDENT"],
//         launch: {grid: "ceil_div(n, ROWS) * SPLIT", cluster: SPLIT, block: 288,
//                  shared: 218112 - (RESIDENT - 1) * 107520, dependent: true,
//                  maps: {a: {box: [64, TOKENS], swizzle: 128, promotion: 256}}}}
//
// Tokens are wgmma's M side (64 rows, of which those beyond TOKENS are never looked at), weights
// its N side, which may be any multiple of 16: so ROWS is the least that 132 multiprocessors
// hold at once, and all of them end together.
//   SPLIT: a cluster parts k over its blocks, which then need only their share of the tokens; at
//     the end each pushes its sums straight into the shared memory of the block that writes them.
//   PARTS: of 64 elements of k in a stage: so many neighbouring bytes of a row come at once.
//   EARLY: KB of weights that are asked for before the tokens are.
//   RESIDENT: blocks that share a multiprocessor.
//   COPIES: weights come by four warps, 16 bytes a thread, which are under way before a tensor map
//     would have been read; or else by TMA.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef SWIGLU
#define SWIGLU 0  // 1: rows of weights are gate and up in turns, out is half as wide.
#endif

struct alignas(64) TensorMap {
  char bytes[128];
};

namespace {

#if ASSAY_A_BF16
using Element = __nv_bfloat16;
using Pair = __nv_bfloat162;
#define TYPES "bf16.bf16"
__device__ Pair rounded(float x, float y) { return __floats2bfloat162_rn(x, y); }
#else
using Element = __half;
using Pair = __half2;
#define TYPES "f16.f16"
__device__ Pair rounded(float x, float y) { return __floats2half2_rn(x, y); }
#endif

#include "wgmma.h"
#if SWIGLU
#include "../hopper_swiglu/swiglu.h"
static_assert(SPLIT == 1 && ROWS >= 64);  // Sums of a tile leave by way of shared memory.
#endif

WGMMA(ROWS)

constexpr int kDepth = 64;  // Elements of k in a part: 128 bytes, the width of the swizzle.
constexpr int kWidth = PARTS * kDepth;
constexpr int kTokenPart = TOKENS * 128, kRowPart = ROWS * 128;  // Bytes.
constexpr int kTokenBytes = PARTS * kTokenPart;
constexpr int kStageBytes = kTokenBytes + PARTS * kRowPart;
constexpr int kMultiplying = 128;            // Threads; then a warp that asks for tokens,
constexpr int kLoading = COPIES ? 128 : 32;  // then those that load weights.
constexpr int kThreads = kMultiplying + 32 + kLoading;
constexpr int kWarps = kMultiplying / 32;

// Sums of 16 columns are written by one block of those that part k; the others send them there.
constexpr int kPairs = ROWS / 16;
constexpr int kMostOwned = (kPairs + SPLIT - 1) / SPLIT;
constexpr int kSumThreads = TOKENS >= 64 ? 128 : (TOKENS + 15) / 16 * 32;  // That hold any.
constexpr int kSlotBytes = kSumThreads * 16;                               // 4 sums a thread.
constexpr int kReceivedBytes = (SPLIT - 1) * kMostOwned * 2 * kSlotBytes;

// 12 KB are left to the kernel behind this one, whose blocks are then there before these end.
constexpr int kShared = RESIDENT == 2 ? 110592 : 218112;
constexpr int kMostStages = (kShared - 1024 - kReceivedBytes) / kStageBytes;
constexpr int kStages = kMostStages < 32 ? kMostStages : 32;
// Of weights are asked for before the tokens are; the others behind them, since an answer comes no
// sooner than those of all that was asked for before, be it in L2 or not.
constexpr int kEarly = EARLY * 1024 / (PARTS * kRowPart);
// wgmma reads 64 rows of tokens: behind the last part of them there must be memory of ours.
static_assert(kStages >= 2 && PARTS * ROWS + TOKENS >= 64 && ROWS % 16 == 0 && ROWS <= 256);
static_assert(TOKENS % 8 == 0 && kStageBytes % 1024 == 0);

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// The address of a peer's shared memory that is `address` here.
__device__ unsigned at_rank(unsigned address, unsigned rank) {
  unsigned result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}

__device__ void begin(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

// Hints to L2, as a createpolicy encodes them: weights are read once, tokens by every block.
constexpr unsigned long long kOnce = 0x12F0000000000000ull, kOften = 0x14F0000000000000ull;

__device__ void load(unsigned to, const TensorMap* map, int column, int row, unsigned barrier,
                     unsigned long long hint) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "l"(hint)
      : "memory");
}

// 16 bytes into the shared memory of a block of the cluster, whose barrier counts them. Only a
// launch with a cluster knows this instruction, be the cluster of one block.
__device__ void push(unsigned to, float x, float y, float z, float w, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "f"(x), "f"(y), "f"(z), "f"(w), "r"(barrier)
      : "memory");
}

// A matrix in shared memory as wgmma is told of it: rows of 128 swizzled bytes, groups of eight
// rows 1024 bytes apart. Source: PTX ISA, "Matrix descriptor".
__device__ unsigned long long descriptor(unsigned address) {
  return static_cast<unsigned long long>(address >> 4 & 0x3fff) | 1ULL << 16 | 64ULL << 32 |
         1ULL << 62;
}

#if COPIES
using Weights = const Element* __restrict__;

// This thread's share of a stage of weights: its 16 bytes of every kDown-th row.
struct Loader {
  static constexpr int kAcross = PARTS * 8;  // Pieces of 16 bytes in a row of a stage.
  static constexpr int kDown = kLoading / kAcross;
  static_assert(kDown == 16 || kDown == 8 || kDown == 4);
  const Element* from;
  size_t step;
  int place, rows;  // So many rows are there for this thread.
  __device__ __forceinline__ Loader(Weights weights, int first_row, int n, int k)
      : step(static_cast<size_t>(kDown) * k) {
    const int thread = threadIdx.x - kMultiplying - 32;
    const int piece = thread % kAcross, row = thread / kAcross;
    from = weights + static_cast<size_t>(first_row + row) * k + piece * 8;
    place = piece / 8 * kRowPart + row * 128 + (piece % 8 ^ row % 8) * 16;
    rows = n - first_row - row;
  }
  __device__ __forceinline__ void fetch(unsigned to, int column) const {
    const Element* at = from + column;
    // From a lane, though all have the same: ptxas 13.0 may add a uniform register to the address
    // of a copy that has a hint, and what it then writes is an illegal instruction on the GPU.
    to = __shfl_sync(0xffffffff, to, threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < ROWS / kDown; ++i) {
      // Four rows down is half of the swizzle's period.
      const int here = (kDown == 4 && i % 2 == 1 ? place ^ 64 : place) + i * kDown * 128;
      if (i * kDown < rows)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%0], [%1], 16, %2;" ::"r"(
                         to + here),
                     "l"(at), "l"(kOnce)
                     : "memory");
      at += step;
    }
  }
  // `full` is told when they are there.
  __device__ __forceinline__ void told(unsigned full) const {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(full) : "memory");
  }
};
#endif

}  // namespace

__global__ void __launch_bounds__(kThreads, RESIDENT)
#if COPIES
    decode(const __grid_constant__ TensorMap map_a, Weights b, Element* __restrict__ out, int m,
           int n, int k) {
#else
    decode(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
           Element* __restrict__ out, int m, int n, int k) {
#endif
  extern __shared__ char memory[];
  __shared__ unsigned long long full[kStages], empty[kStages], received, asked;
  const unsigned ring = (shared_address(memory) + 1023) / 1024 * 1024;
  const unsigned sums = ring + kStages * kStageBytes;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int rank = static_cast<int>(blockIdx.x % SPLIT);
  const int first_row = static_cast<int>(blockIdx.x / SPLIT) * ROWS;
  // Of all stages of k this block takes every SPLIT-th; so it does with pairs of 16 columns.
  const int steps = ((k + kWidth - 1) / kWidth - rank + SPLIT - 1) / SPLIT;
  const auto column_of = [&](int step) { return (step * SPLIT + rank) * kWidth; };
  const int owned = (kPairs - rank + SPLIT - 1) / SPLIT;

#if DEPENDENT
  asm volatile("griddepcontrol.launch_dependents;");
#endif
#if COPIES
  const Loader loader(b, first_row, n, k);
  if (warp > kWarps && steps > 0 && kEarly > 0) loader.fetch(ring + kTokenBytes, column_of(0));
#endif
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      begin(shared_address(&full[s]), COPIES ? kLoading + 1 : 1);
      begin(shared_address(&empty[s]), kWarps);
    }
    begin(shared_address(&received), 1);
    begin(shared_address(&asked), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    if (SPLIT > 1) expect(shared_address(&received), (SPLIT - 1) * owned * 2 * kSlotBytes);
  }
  __syncthreads();
  // Every thread arrives here, and waits before it touches another block, whose barriers are then
  // there. What is told of is barriers made, behind a fence: hence relaxed.
  if (SPLIT > 1) asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  const auto meet = [] {
    if (SPLIT > 1) asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  };

  if (warp > kWarps) {
    // ---- Weights. They wait for free stages, and once for the tokens to be asked for.
    if (COPIES || lane == 0)
      for (int i = 0; i < steps; ++i) {
        const int s = i % kStages;
        if (i == kEarly) wait(shared_address(&asked), 0);
        if (i >= kStages) wait(shared_address(&empty[s]), i / kStages % 2 ^ 1);
        const unsigned barrier = shared_address(&full[s]);
        const unsigned stage = ring + s * kStageBytes + kTokenBytes;
#if COPIES
        if (i > 0 || kEarly == 0) loader.fetch(stage, column_of(i));
        loader.told(barrier);
#else
        expect(barrier, kStageBytes);
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
          load(stage + part * kRowPart, &map_b, column_of(i) + part * kDepth, first_row, barrier,
               kOnce);
#endif
      }
#if COPIES
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncwarp();
    meet();
    return;
  }

  if (warp == kWarps) {
    // ---- Tokens, which the kernel before this one may still be writing.
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
#if DEPENDENT
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    if (lane == 0)
      for (int i = 0; i < steps; ++i) {
        const int s = i % kStages;
        if (i >= kStages) wait(shared_address(&empty[s]), i / kStages % 2 ^ 1);
        const unsigned barrier = shared_address(&full[s]), stage = ring + s * kStageBytes;
        if (COPIES) expect(barrier, kTokenBytes);
#pragma unroll
        for (int part = 0; part < PARTS; ++part)
          load(stage + part * kTokenPart, &map_a, column_of(i) + part * kDepth, 0, barrier, kOften);
        if (i + 1 == (kEarly == 0 ? 1 : kEarly < steps ? kEarly : steps))
          arrive(shared_address(&asked));
      }
    __syncwarp();
    meet();
    return;
  }

  // ---- Multiply.
  float d[ROWS / 2];
#pragma unroll
  for (float& sum : d) sum = 0;
  for (int i = 0; i < steps; ++i) {
    const int s = i % kStages;
    wait(shared_address(&full[s]), i / kStages % 2);
    // Copies by threads are written as threads write, which tensor cores see behind this.
    if (COPIES) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    const unsigned tokens = ring + s * kStageBytes, weights = tokens + kTokenBytes;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < PARTS; ++part)
#pragma unroll
      for (int piece = 0; piece < kDepth / 16; ++piece)
        multiply(d, descriptor(tokens + part * kTokenPart + piece * 32),
                 descriptor(weights + part * kRowPart + piece * 32));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    // The stage before this one has been read.
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (i > 0 && lane == 0) arrive(shared_address(&empty[(i - 1) % kStages]));
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  meet();
#if DEPENDENT
  // What the kernel before this one reads may lie where this one writes.
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif

  if (SPLIT == 1 && ROWS >= 64) {
    // Through shared memory, so that whole rows of the tile are written at once. All have read it.
    asm volatile("bar.sync 1, %0;" ::"n"(kMultiplying) : "memory");
    constexpr int kColumns = ROWS / (1 + SWIGLU), kPitch = kColumns * 2 + 16;
    char* const mine = memory + (ring - shared_address(memory)) + warp * 16 * kPitch;
#pragma unroll
    for (int j = 0; j < ROWS / 8; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        char* const row = mine + (lane / 4 + half * 8) * kPitch;
        const float *const sums = &d[j * 4 + half * 2];
#if SWIGLU
        *reinterpret_cast<Element*>(row + (j * 4 + lane % 4) * 2) = swiglu(sums[0], sums[1]);
#else
        *reinterpret_cast<Pair*>(row + j * 16 + lane % 4 * 4) = rounded(sums[0], sums[1]);
#endif
      }
    __syncwarp();
    const int width = n / (1 + SWIGLU);
    for (int i = lane; i < 16 * (kColumns / 8); i += 32) {
      const int row = i / (kColumns / 8), piece = i % (kColumns / 8);
      const int token = warp * 16 + row, column = first_row / (1 + SWIGLU) + piece * 8;
      if (token < m && column < width)
        *reinterpret_cast<uint4*>(out + static_cast<size_t>(token) * width + column) =
            *reinterpret_cast<const uint4*>(mine + row * kPitch + piece * 16);
    }
    return;
  }

  if (threadIdx.x >= kSumThreads) return;
  if (SPLIT > 1) {
    // Thread by thread: the same thread of the block that owns a pair of columns has its sums.
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const int owner = pair % SPLIT;
      if (owner == rank) continue;
      const int source = rank - (rank > owner);
      const unsigned to = at_rank(
          sums + (source * kMostOwned + pair / SPLIT) * 2 * kSlotBytes + threadIdx.x * 16, owner);
      const unsigned barrier = at_rank(shared_address(&received), owner);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int at = pair * 8 + j * 4;
        push(to + j * kSlotBytes, d[at], d[at + 1], d[at + 2], d[at + 3], barrier);
      }
    }
    if (owned > 0) wait(shared_address(&received), 0);
  }
  const char* const got = memory + (sums - shared_address(memory)) + threadIdx.x * 16;
  const int token = warp * 16 + lane / 4;
#pragma unroll
  for (int pair = 0; pair < kPairs; ++pair) {
    if (SPLIT > 1 && pair % SPLIT != rank) continue;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      float4 sum = make_float4(d[pair * 8 + j * 4], d[pair * 8 + j * 4 + 1],
                               d[pair * 8 + j * 4 + 2], d[pair * 8 + j * 4 + 3]);
#pragma unroll
      for (int source = 0; source < SPLIT - 1; ++source) {
        const float4 other = *reinterpret_cast<const float4*>(
            got + ((source * kMostOwned + pair / SPLIT) * 2 + j) * kSlotBytes);
        sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
      }
      const int column = first_row + pair * 16 + j * 8 + lane % 4 * 2;
      if (column >= n) continue;
      Element* const to = out + static_cast<size_t>(token) * n + column;
      if (token < m) *reinterpret_cast<Pair*>(to) = rounded(sum.x, sum.y);
      if (token + 8 < m)
        *reinterpret_cast<Pair*>(to + static_cast<size_t>(8) * n) = rounded(sum.z, sum.w);
    }
  }
  // A block may end here: all that its peer sends to it has been waited for.
}
