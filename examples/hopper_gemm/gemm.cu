// GEMM for prefill on a Hopper card: persistent clusters of two blocks, whose shared operand comes
// once for both (multicast), a warp that keeps the copy engine (TMA) busy, two groups of four warps
// that multiply (wgmma), and stores by the copy engine. README.md says what each choice was worth.
//
// assay: {name: plain, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16, flags: [-DDEPENDENT=0],
//         tunables: {LARGE: [0, 3, 4], LEFT: [0, 1]},
//         constraints: [k % 8 == 0, n % 8 == 0, LARGE != 3 or n >= 512],
//         launch: {grid: "2 * ceil_div(ceil_div(m, 256) * ceil_div(n, 256 + LARGE // 4 * 128),
//                                      ceil_div(ceil_div(m, 256) *
//                                               ceil_div(n, 256 + LARGE // 4 * 128), 66))",
//                  cluster: 2, block: 384, shared: 231424,
//                  maps: {a: {box: [64, 128], swizzle: 128, promotion: 256},
//                         b: {box: [64, 64], swizzle: 128, promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
// assay: {name: dependent, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16, flags: [-DDEPENDENT=1],
//         tunables: {LARGE: [0, 3, 4], LEFT: [0, 1]},
//         constraints: [k % 8 == 0, n % 8 == 0, LARGE != 3 or n >= 512],
//         launch: {grid: "2 * ceil_div(ceil_div(m, 256) * ceil_div(n, 256 + LARGE // 4 * 128),
//                                      ceil_div(ceil_div(m, 256) *
//                                               ceil_div(n, 256 + LARGE // 4 * 128), 66))",
//                  cluster: 2, block: 384, shared: 231424, dependent: true,
//                  maps: {a: {box: [64, 128], swizzle: 128, promotion: 256},
//                         b: {box: [64, 64], swizzle: 128, promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
//
// LARGE: quarters of the output that large tiles do, 256 x 192 a block; the others are 128 x 256.
//   Large ones want fewer bytes of L2. At n 4096 small ones fill 128 multiprocessors, large ones
//   do not, and three quarters of large ones do again.
// LEFT: multiplications that are left under way while the next stage is waited for.
// 66: clusters that the card holds. No more are launched than make all of them end together.
//
// The maps see a as [m, k], b as [n, k], out as [m, n]. What lies beyond an edge arrives as zeros
// and is not written, so that m, n and k need no tails.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
#include "copy_engine.h"

WGMMA(192)
WGMMA(256)

constexpr int kDepth = 64;  // Elements of k in a stage: 128 bytes, the width of the swizzle.
constexpr int kBand = 8;    // Tiles of a cluster that lie side by side along m in the order of all.

// A tile of a block, as its two groups see it.
struct Large {
  static constexpr int kPieces = 2;        // Of 64 rows each, of a group.
  static constexpr int kColumns = 192;
  static constexpr bool kSharesA = true;   // The blocks of a cluster lie side by side.
};
struct Small {
  static constexpr int kPieces = 1;
  static constexpr int kColumns = 256;
  static constexpr bool kSharesA = false;  // One lies above the other, and they share b.
};
template <class Tile>
struct Sizes {
  static constexpr int kRows = 128 * Tile::kPieces;
  static constexpr int kBytesA = kRows * 128, kStageBytes = kBytesA + Tile::kColumns * 128;
  static constexpr int kClusterRows = kRows * (Tile::kSharesA ? 1 : 2);
  static constexpr int kClusterColumns = Tile::kColumns * (Tile::kSharesA ? 2 : 1);
};

constexpr int kSlotBytes = 64 * 64 * 2;         // 64 x 64 of out are stored at once, from one of
constexpr int kSlots = LARGE == 0 ? 2 : 3;      // so many places a group.
constexpr int kStageBytes = LARGE == 0 ? Sizes<Small>::kStageBytes : Sizes<Large>::kStageBytes;
constexpr int kStages = (231424 - 1024 - 2 * kSlots * kSlotBytes) / kStageBytes;
static_assert(kStages >= 3);

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
  __device__ __forceinline__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
  __device__ __forceinline__ int last() const { return stage == 0 ? kStages - 1 : stage - 1; }
};

// Columns of out from `first` up to `end` in tiles of clusters: bands of kBand rows of tiles;
// within a band, column by column.
template <class Tile>
struct Region {
  int first, down, across;
  __device__ Region(int m, int first_column, int end)
      : first(first_column),
        down((m + Sizes<Tile>::kClusterRows - 1) / Sizes<Tile>::kClusterRows),
        across((end - first + Sizes<Tile>::kClusterColumns - 1) / Sizes<Tile>::kClusterColumns) {}
  __device__ int count() const { return down * across; }
  // First row and column of the tile of the cluster's block of this rank.
  __device__ __forceinline__ void place(int tile, int rank, int& row, int& column) const {
    const int band = tile / (kBand * across), in_band = tile % (kBand * across);
    const int height = min(kBand, down - band * kBand);
    row = (band * kBand + in_band % height) * Sizes<Tile>::kClusterRows;
    column = first + in_band / height * Sizes<Tile>::kClusterColumns;
    if (Tile::kSharesA)
      column += rank * Tile::kColumns;
    else
      row += rank * Sizes<Tile>::kRows;
  }
};

struct Block {
  const TensorMap &map_a, &map_b, &map_out;
  unsigned ring, full, empty;  // Addresses: of the first stage, of the first of the barriers.
  int rank, steps;
};

// The thread that copies: all stages of a tile. Of what is shared it fetches half, for both blocks.
template <class Tile>
__device__ __forceinline__ void fetch(const Block& block, Place& at, int row, int column) {
  constexpr int kBytesA = Sizes<Tile>::kBytesA;
  for (int i = 0; i < block.steps; ++i, at.next()) {
    wait(block.empty + at.stage * 8, at.parity);
    const unsigned barrier = block.full + at.stage * 8, k = i * kDepth;
    const unsigned a = block.ring + at.stage * kStageBytes, b = a + kBytesA;
    expect(barrier, Sizes<Tile>::kStageBytes);
    if (Tile::kSharesA) {
      load_for_both(a + block.rank * kBytesA / 2, block.map_a, k, row + block.rank * 128, barrier);
#pragma unroll
      for (int j = 0; j < Tile::kColumns; j += 64)
        load(b + j * 128, block.map_b, k, column + j, barrier);
    } else {
      load(a, block.map_a, k, row, barrier);
#pragma unroll
      for (int j = 0; j < Tile::kColumns / 2; j += 64) {
        const int mine = block.rank * (Tile::kColumns / 2) + j;
        load_for_both(b + mine * 128, block.map_b, k, column + mine, barrier);
      }
    }
  }
}

// A group of four warps: its half of a tile, from the first stage to the last store.
template <class Tile>
__device__ __forceinline__ void multiply_and_store(const Block& block, Place& at, int& slot,
                                                   int group, int row, int column) {
  const int thread = threadIdx.x % 128, lane = threadIdx.x % 32;
  const auto free_stage = [&](int stage) {  // In both blocks.
    if (thread < 2) arrive_at(block.empty + stage * 8, thread);
  };
  float d[Tile::kPieces][Tile::kColumns / 2] = {};
  for (int i = 0; i < block.steps; ++i, at.next()) {
    wait(block.full + at.stage * 8, at.parity);
    const unsigned stage = block.ring + at.stage * kStageBytes;
    const unsigned long long a = descriptor(stage + group * Sizes<Tile>::kBytesA / 2);
    const unsigned long long b = descriptor(stage + Sizes<Tile>::kBytesA);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < kDepth / 16; ++part)
#pragma unroll
      for (int piece = 0; piece < Tile::kPieces; ++piece)
        multiply(d[piece], a + piece * 512 + part * 2, b + part * 2);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
    // This stage has been read, or the one before it.
    if (LEFT == 0) free_stage(at.stage);
    if (LEFT == 1 && i > 0) free_stage(at.last());
  }
  if (LEFT == 1) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    free_stage(at.last());
  }

  // stmatrix writes four matrices of 8 x 8, two down and two across: this lane's row of them, and
  // its 16 bytes of it, which lie where the swizzle has them.
  const unsigned slots = block.ring + kStages * kStageBytes + group * kSlots * kSlotBytes;
  const int out_row = thread / 32 * 16 + lane % 16, out_piece = lane / 16;
  row += group * Tile::kPieces * 64;
#pragma unroll
  for (int piece = 0; piece < Tile::kPieces; ++piece)
#pragma unroll
    for (int part = 0; part < Tile::kColumns / 64; ++part) {
      const unsigned to = slots + slot * kSlotBytes;
      slot = slot + 1 == kSlots ? 0 : slot + 1;
      // What lay here has been read.
      if (thread == 0)
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kSlots - 1) : "memory");
      meet(1 + group, 128);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float* sums = &d[piece][part * 32 + j * 8];
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const Pair pair = rounded(sums[i * 2], sums[i * 2 + 1]);
          words[i] = reinterpret_cast<const unsigned&>(pair);
        }
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         to + out_row * 128 + ((j * 2 + out_piece) ^ out_row % 8) * 16),
                     "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      meet(1 + group, 128);
      if (thread == 0) store(block.map_out, column + part * 64, row + piece * 64, to);
    }
}

}  // namespace

__global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         const __grid_constant__ TensorMap map_out, int m, int n, int k) {
  extern __shared__ char memory[];
  __shared__ unsigned long long full[kStages], empty[kStages];
  const Block block{map_a,
                    map_b,
                    map_out,
                    (shared_address(memory) + 1023) / 1024 * 1024,
                    shared_address(full),
                    shared_address(empty),
                    static_cast<int>(blockIdx.x % 2),
                    (k + kDepth - 1) / kDepth};
  const int boundary = LARGE == 0 ? 0 : LARGE == 4 ? n : n / 512 * 384;
  const Region<Large> large(m, 0, boundary);
  const Region<Small> small(m, boundary, n);
  const int count_large = LARGE == 0 ? 0 : large.count();
  const int count = count_large + (LARGE == 4 ? 0 : small.count());
  const int first = static_cast<int>(blockIdx.x / 2), stride = static_cast<int>(gridDim.x / 2);

#if DEPENDENT
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      begin(block.full + s * 8, 1);
      begin(block.empty + s * 8, 4);  // Two groups of each block.
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (const TensorMap* map : {&map_a, &map_b, &map_out})
      asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
  }
  // What is told of is barriers made, behind a fence: hence relaxed.
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");

  // Every role does this for each tile of this cluster.
  const auto each_tile = [&](auto&& of_large, auto&& of_small) {
    int row, column;
    for (int tile = first; tile < count; tile += stride) {
      if (LARGE == 4 || (LARGE > 0 && tile < count_large)) {
        large.place(tile, block.rank, row, column);
        of_large(row, column);
      } else {
        small.place(tile - count_large, block.rank, row, column);
        of_small(row, column);
      }
    }
  };
  const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);
  Place at;
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x % 128 != 0) return;
#if DEPENDENT
    // What is multiplied comes of this copy and of those behind it, as does what is stored: all of
    // it waits here. L2 may know of the first weights before.
    if (first < count) {
      int row, column;
      if (LARGE > 0 && first < count_large)
        large.place(first, block.rank, row, column);
      else
        small.place(first - count_large, block.rank, row, column);
      for (int i = 0; i < min(kStages, block.steps); ++i)
        for (int j = 0; j < 192; j += 64) announce(map_b, i * kDepth, column + j);
    }
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    at.parity = 1;  // Each stage is free at first: a wait for a phase that never was passes.
    each_tile([&](int row, int column) { fetch<Large>(block, at, row, column); },
              [&](int row, int column) { fetch<Small>(block, at, row, column); });
    // No block ends before the other has freed its stages: what that sends here has then come.
    for (int i = 0; i < kStages; ++i, at.next()) wait(block.empty + at.stage * 8, at.parity);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  int slot = 0;
  each_tile(
      [&](int row, int column) {
        multiply_and_store<Large>(block, at, slot, group, row, column);
      },
      [&](int row, int column) {
        multiply_and_store<Small>(block, at, slot, group, row, column);
      });
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
