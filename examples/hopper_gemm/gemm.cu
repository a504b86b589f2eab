// GEMM for prefill on a Hopper card: persistent clusters of two blocks, whose shared operand comes
// once for both (multicast), a warp that keeps the copy engine (TMA) busy, two groups of four warps
// that multiply (wgmma), and stores by the copy engine. README.md says what each choice was worth.
//
// assay: {name: together, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16,
//         flags: [-DTURNS=0, -DDEPENDENT=0],
//         tunables: {TILE_M: [128, 256], TILE_N: [192, 256], SHARE_A: [0, 1], LEFT: [0, 1],
//                    BAND: [8]},
//         constraints: [k % 8 == 0, n % 8 == 0, TILE_M + TILE_N >= 384,
//                       TILE_M + TILE_N <= 448, SHARE_A == 0 or TILE_M == 256],
//         launch: {grid: "2 * ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                      ceil_div(n, TILE_N * (1 + SHARE_A)),
//                                      ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                               ceil_div(n, TILE_N * (1 + SHARE_A)), 66))",
//                  cluster: 2, block: 384, shared: 231424,
//                  maps: {a: {box: [64, "TILE_M // (1 + SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         b: {box: [64, "TILE_N // (2 - SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
// assay: {name: together_dependent, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16,
//         flags: [-DTURNS=0, -DDEPENDENT=1],
//         tunables: {TILE_M: [128, 256], TILE_N: [192, 256], SHARE_A: [0, 1], LEFT: [0, 1],
//                    BAND: [8]},
//         constraints: [k % 8 == 0, n % 8 == 0, TILE_M + TILE_N >= 384,
//                       TILE_M + TILE_N <= 448, SHARE_A == 0 or TILE_M == 256],
//         launch: {grid: "2 * ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                      ceil_div(n, TILE_N * (1 + SHARE_A)),
//                                      ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                               ceil_div(n, TILE_N * (1 + SHARE_A)), 66))",
//                  cluster: 2, block: 384, shared: 231424, dependent: true,
//                  maps: {a: {box: [64, "TILE_M // (1 + SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         b: {box: [64, "TILE_N // (2 - SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
// assay: {name: turns, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16,
//         flags: [-DTURNS=1, -DDEPENDENT=0],
//         tunables: {TILE_M: [128], TILE_N: [192], SHARE_A: [0], LEFT: [1], BAND: [4, 8]},
//         constraints: [k % 8 == 0, n % 8 == 0],
//         launch: {grid: "2 * ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                      ceil_div(n, TILE_N * (1 + SHARE_A)),
//                                      ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                               ceil_div(n, TILE_N * (1 + SHARE_A)), 66))",
//                  cluster: 2, block: 384, shared: 231424,
//                  maps: {a: {box: [64, "TILE_M // (1 + SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         b: {box: [64, "TILE_N // (2 - SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
// assay: {name: turns_dependent, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16,
//         flags: [-DTURNS=1, -DDEPENDENT=1],
//         tunables: {TILE_M: [128], TILE_N: [192], SHARE_A: [0], LEFT: [1], BAND: [4, 8]},
//         constraints: [k % 8 == 0, n % 8 == 0],
//         launch: {grid: "2 * ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                      ceil_div(n, TILE_N * (1 + SHARE_A)),
//                                      ceil_div(ceil_div(m, TILE_M * (2 - SHARE_A)) *
//                                               ceil_div(n, TILE_N * (1 + SHARE_A)), 66))",
//                  cluster: 2, block: 384, shared: 231424, dependent: true,
//                  maps: {a: {box: [64, "TILE_M // (1 + SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         b: {box: [64, "TILE_N // (2 - SHARE_A)"], swizzle: 128,
//                             promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
//
// together: both groups multiply halves of one tile of TILE_M x TILE_N.
// turns: each group has tiles of its own; one multiplies while the other writes.
// SHARE_A: what the blocks of a cluster share: rows of a, or else rows of b.
// LEFT: multiplications that are left under way while the next stage is waited for.
// BAND: tiles of a cluster that lie side by side along m before the next column of them begins.
// 66: clusters that the card holds. No more are launched than make all of them end together.
//
// The maps see a as [m, k], b as [n, k], out as [m, n]. What lies beyond an edge arrives as zeros
// and is not written, so that m, n and k need no tails.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define ROWS TILE_N  // Of b: what wgmma.h writes its instruction for.

struct alignas(64) TensorMap {
  char bytes[128];
};

namespace {

#if ASSAY_A_BF16
using Pair = __nv_bfloat162;
#define TYPES "bf16.bf16"
__device__ Pair rounded(float x, float y) { return __floats2bfloat162_rn(x, y); }
#else
using Pair = __half2;
#define TYPES "f16.f16"
__device__ Pair rounded(float x, float y) { return __floats2half2_rn(x, y); }
#endif

#include "../hopper_decode/wgmma.h"

constexpr int kDepth = 64;  // Elements of k in a stage: 128 bytes, the width of the swizzle.
// A cluster's tile is two tiles high where its blocks share b, or two wide where they share a. Each
// block fetches its half of what is shared for both.
constexpr int kClusterM = SHARE_A ? 1 : 2, kClusterN = SHARE_A ? 2 : 1;
constexpr int kPartA = TILE_M / kClusterN, kPartB = TILE_N / kClusterM;  // Rows a block fetches.
constexpr int kBytesA = TILE_M * 128, kStageBytes = kBytesA + TILE_N * 128;
constexpr int kGroupRows = TURNS ? TILE_M : TILE_M / 2;  // Of a tile, of a group.
constexpr int kPieces = kGroupRows / 64;                 // wgmma's rows.
constexpr int kWide = 64;                                // Columns that are stored at once,
constexpr int kSlotBytes = 64 * kWide * 2;               // with 64 rows, from
constexpr int kSlots = kPieces == 2 && !TURNS ? 3 : 2;   // so many places a group.
constexpr int kStages = (231424 - 1024 - 2 * kSlots * kSlotBytes) / kStageBytes;
static_assert(kPartA % 8 == 0 && kPartB % 8 == 0 && TILE_N % kWide == 0 && kStages >= 3);

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void begin(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// What it would order are reads that are over: hence no `.release.cluster`, which costs a fence of
// all memory.
__device__ __forceinline__ void arrive_at(unsigned barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

__device__ __forceinline__ void expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra AGAIN;\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void load(unsigned to, const TensorMap* map, int column, int row,
                                     unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
      "[%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier)
      : "memory");
}

// Into both blocks of the cluster, at the same place; the barrier of each counts its bytes.
__device__ __forceinline__ void load_for_both(unsigned to, const TensorMap* map, int column,
                                              int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(static_cast<unsigned short>(3))
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, int column, int row, unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\n"
      "cp.async.bulk.commit_group;" ::"l"(map),
      "r"(column), "r"(row), "r"(from)
      : "memory");
}

__device__ __forceinline__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// A matrix in shared memory as wgmma is told of it: rows of 128 swizzled bytes, groups of eight
// rows 1024 bytes apart. Source: PTX ISA, "Matrix descriptor".
__device__ __forceinline__ unsigned long long descriptor(unsigned address) {
  return static_cast<unsigned long long>((address & 0x3ffff) >> 4 | 1U << 16) |
         static_cast<unsigned long long>(64U | 1U << 30) << 32;
}

// A stage of the ring, and which of its rounds it is in.
struct Place {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void skip(int steps) {
    stage += steps;
    parity ^= stage / kStages & 1;
    stage %= kStages;
  }
  __device__ __forceinline__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
  __device__ __forceinline__ int last() const { return stage == 0 ? kStages - 1 : stage - 1; }
};

// The tiles of clusters: bands of BAND rows of them; within a band, column by column.
struct Tiles {
  int down, across;  // So many.
  __device__ Tiles(int m, int n)
      : down((m + TILE_M * kClusterM - 1) / (TILE_M * kClusterM)),
        across((n + TILE_N * kClusterN - 1) / (TILE_N * kClusterN)) {}
  // First row and column of this block's tile.
  __device__ __forceinline__ void place(int tile, int rank, int& row, int& column) const {
    const int band = tile / (BAND * across), in_band = tile % (BAND * across);
    const int height = min(BAND, down - band * BAND);
    row = ((band * BAND + in_band % height) * kClusterM + (SHARE_A ? 0 : rank)) * TILE_M;
    column = (in_band / height * kClusterN + (SHARE_A ? rank : 0)) * TILE_N;
  }
};

}  // namespace

__global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_out, int m, int n, int k) {
  extern __shared__ char memory[];
  __shared__ unsigned long long full[kStages], empty[kStages], turn[2];
  const unsigned ring = (shared_address(memory) + 1023) / 1024 * 1024;
  const Tiles tiles(m, n);
  const int count = tiles.down * tiles.across, steps = (k + kDepth - 1) / kDepth;
  const int rank = static_cast<int>(blockIdx.x % 2);
  const int first = static_cast<int>(blockIdx.x / 2), stride = static_cast<int>(gridDim.x / 2);

#if DEPENDENT
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      begin(shared_address(&full[s]), 1);
      begin(shared_address(&empty[s]), TURNS ? 2 : 4);  // A group of each block, or two.
    }
    for (auto& barrier : turn) begin(shared_address(&barrier), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (const TensorMap* map : {&map_a, &map_b, &map_out})
      asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
  }
  // What is told of is barriers made, behind a fence: hence relaxed.
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
#if DEPENDENT
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif

  const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 != 0) return;
    Place at{0, 1};  // Each stage is free at first: a wait for a phase that never was passes.
    for (int tile = first; tile < count; tile += stride) {
      int row, column;
      tiles.place(tile, rank, row, column);
      for (int i = 0; i < steps; ++i, at.next()) {
        wait(shared_address(&empty[at.stage]), at.parity);
        const unsigned barrier = shared_address(&full[at.stage]);
        const unsigned a = ring + at.stage * kStageBytes, b = a + kBytesA;
        expect(barrier, kStageBytes);
        if (SHARE_A) {
          load_for_both(a + rank * kPartA * 128, &map_a, i * kDepth, row + rank * kPartA, barrier);
          load(b, &map_b, i * kDepth, column, barrier);
        } else {
          load(a, &map_a, i * kDepth, row, barrier);
          load_for_both(b + rank * kPartB * 128, &map_b, i * kDepth, column + rank * kPartB,
                        barrier);
        }
      }
    }
    // No block ends before the other has freed its stages: what that sends here has then come.
    for (int i = 0; i < kStages; ++i, at.next())
      wait(shared_address(&empty[at.stage]), at.parity);
    return;
  }

  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int thread = threadIdx.x % 128, lane = threadIdx.x % 32;
  const auto free_stage = [&](int stage) {
    if (thread < 2) arrive_at(shared_address(&empty[stage]), thread);
  };
  // stmatrix writes four matrices of 8 x 8, two down and two across: this lane's row of them, and
  // its 16 bytes of it, which lie where the swizzle has them.
  const unsigned slots = ring + kStages * kStageBytes + group * kSlots * kSlotBytes;
  const int out_row = thread / 32 * 16 + lane % 16, out_piece = lane / 16;
  int slot = 0;
  unsigned parity = 0;  // Of this group's turn.
  Place at;
  if (TURNS && group == 1) {
    at.skip(steps);  // The other's tile.
    if (thread == 0) arrive(shared_address(&turn[0]));
  }
  for (int tile = TURNS ? first + group * stride : first; tile < count;
       tile += TURNS ? 2 * stride : stride) {
    float d[kPieces][TILE_N / 2] = {};
    if (TURNS) {
      // A stage's parity alone would not say whether it is the other's.
      wait(shared_address(&turn[group]), parity);
      parity ^= 1;
    }
    for (int i = 0; i < steps; ++i, at.next()) {
      wait(shared_address(&full[at.stage]), at.parity);
      const unsigned stage = ring + at.stage * kStageBytes;
      const unsigned long long a = descriptor(stage + (TURNS ? 0 : group) * kGroupRows * 128);
      const unsigned long long b = descriptor(stage + kBytesA);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      constexpr int kParts = kDepth / 16;
#pragma unroll
      for (int at_once = 0; at_once < kPieces * kParts; ++at_once) {
        // Together the same part of b is read twice in a row.
        const int piece = TURNS ? at_once / kParts : at_once % kPieces;
        const int part = TURNS ? at_once % kParts : at_once / kPieces;
        multiply(d[piece], a + piece * 512 + part * 2, b + part * 2);
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (TURNS && i == steps - 1 && thread == 0) arrive(shared_address(&turn[group ^ 1]));
      asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
      // This stage has been read, or the one before it.
      if (LEFT == 0) free_stage(at.stage);
      if (LEFT == 1 && i > 0) free_stage(at.last());
    }
    if (LEFT == 1) {
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      free_stage(at.last());
    }
    if (TURNS) at.skip(steps);

    int row, column;
    tiles.place(tile, rank, row, column);
    if (!TURNS) row += group * kGroupRows;
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece)
#pragma unroll
      for (int part = 0; part < TILE_N / kWide; ++part) {
        const unsigned to = slots + slot * kSlotBytes;
        slot = (slot + 1) % kSlots;
        // What lay here has been read.
        if (thread == 0)
          asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kSlots - 1) : "memory");
        meet(1 + group, 128);
#pragma unroll
        for (int j = 0; j < kWide / 16; ++j) {
          const float* sums = &d[piece][part * (kWide / 2) + j * 8];
          unsigned words[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const Pair pair = rounded(sums[i * 2], sums[i * 2 + 1]);
            words[i] = reinterpret_cast<const unsigned&>(pair);
          }
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                           to + out_row * kWide * 2 + ((j * 2 + out_piece) ^ out_row % 8) * 16),
                       "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                       : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        meet(1 + group, 128);
        if (thread == 0) store(&map_out, column + part * kWide, row + piece * 64, to);
      }
  }
  if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
