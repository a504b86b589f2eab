// GEMM for prefill on a Hopper GPU: persistent clusters of two blocks, whose shared operand comes
// once for both (multicast), a warp that keeps the copy engine (TMA) busy, two groups of four warps
// that multiply (wgmma), and stores by the copy engine. README.md says what each choice was worth.
//
// assay: {name: plain, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16, flags: [-DDEPENDENT=0],
//         tunables: {LARGE: [0, 3, 4], SMALL_ROUNDS: [0, 1]},
//         constraints: [k % 8 == 0, k > 192, n % 8 == 0, LARGE != 3 or n >= 512,
//                       SMALL_ROUNDS == 0 or LARGE == 3],
//         launch: {grid: "132 * SMALL_ROUNDS + (1 - SMALL_ROUNDS) * 2 *
//                         ceil_div(ceil_div(m, 256) * ceil_div(n, 256 + LARGE // 4 * 128),
//                                  ceil_div(ceil_div(m, 256) *
//                                           ceil_div(n, 256 + LARGE // 4 * 128), 66))",
//                  cluster: 2, block: 384, shared: 231424,
//                  maps: {a: {box: [64, 128], swizzle: 128, promotion: 256},
//                         b: {box: [64, 64], swizzle: 128, promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
// assay: {name: dependent, entry: gemm, dtype: [f16, bf16], layout: tn, targets: [sm_90a],
//         args: [map_a, map_b, map_out, m, n, k], alignment: 16, flags: [-DDEPENDENT=1],
//         tunables: {LARGE: [0, 3, 4], SMALL_ROUNDS: [0, 1]},
//         constraints: [k % 8 == 0, k > 192, n % 8 == 0, LARGE != 3 or n >= 512,
//                       SMALL_ROUNDS == 0 or LARGE == 3],
//         launch: {grid: "132 * SMALL_ROUNDS + (1 - SMALL_ROUNDS) * 2 *
//                         ceil_div(ceil_div(m, 256) * ceil_div(n, 256 + LARGE // 4 * 128),
//                                  ceil_div(ceil_div(m, 256) *
//                                           ceil_div(n, 256 + LARGE // 4 * 128), 66))",
//                  cluster: 2, block: 384, shared: 231424, dependent: true,
//                  maps: {a: {box: [64, 128], swizzle: 128, promotion: 256},
//                         b: {box: [64, 64], swizzle: 128, promotion: 256},
//                         out: {box: [64, 64], swizzle: 128}}}}
//
// LARGE: quarters of the output that large tiles do, 256 x 192 a block; the others are 128 x 256.
//   Large ones want fewer bytes of L2. At n 4096 small ones fill 128 multiprocessors, large ones
//   do not, and three quarters of large ones do again.
// SMALL_ROUNDS: so many small tiles for each cluster instead, behind the large ones: a last round of
//   small tiles is over sooner.
// 66: clusters that the GPU holds. No more are launched than make all of them end together.
//
// The maps see a as [m, k], b as [n, k], out as [m, n]. What lies beyond an edge arrives as zeros
// and is not written, so that m, n and k need no tails.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef SWIGLU
#define SWIGLU 0        // 1: columns of a x b are gate and up in turns, out is half as wide.
#endif
#ifndef SMALL_ROUNDS
#define SMALL_ROUNDS 0
#endif

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

WGMMA(128)
WGMMA(192)

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

// Half of what a group has of a tile: 64 rows of a large one, 128 columns of a small one.
template <class Tile>
struct Half {
  static constexpr int kColumns = Tile::kPieces == 2 ? Tile::kColumns : Tile::kColumns / 2;
  static constexpr int kParts = kColumns / 64;
  static constexpr int kRow = Tile::kPieces == 2 ? 64 : 0;  // Of the second half.
  static constexpr int kColumn = Tile::kPieces == 2 ? 0 : kColumns;
};

// How sums leave, half by half of a tile: Kept, kSlotBytes, kSlots, Output.
#if SWIGLU
#include "../hopper_swiglu/output.h"
#else
#include "output.h"
#endif
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

// The first column that small tiles do: of the last quarter, or of so many that each cluster has
// SMALL_ROUNDS of them, behind large ones.
__device__ __forceinline__ int first_small(int m, int n, int clusters) {
  if (LARGE == 0 || LARGE == 4) return LARGE == 0 ? 0 : n;
  if (SMALL_ROUNDS == 0) return n / 512 * 384;
  const int down = (m + Sizes<Small>::kClusterRows - 1) / Sizes<Small>::kClusterRows;
  const int most = SMALL_ROUNDS * clusters / down * Sizes<Small>::kClusterColumns;
  return most >= n ? 0
                   : (n - most + Sizes<Large>::kClusterColumns - 1) /
                         Sizes<Large>::kClusterColumns * Sizes<Large>::kClusterColumns;
}

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

__device__ __forceinline__ void fence_sums() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void wait_for_sums() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

// A group of four warps: its half of each of these tiles. The first two stages and the last two
// are multiplied half by half, so that tensor cores have the one half to do while sums of the
// other leave: the second half of a tile leaves while the next tile begins.
template <class Tile, class Next>
__device__ __forceinline__ void multiply_and_store(const Block& block, Place& at, Output& out,
                                                   Next&& next) {
  using OfHalf = Half<Tile>;
  const int thread = threadIdx.x % 128;
  const auto free_stage = [&](const Place& place) {  // In both blocks.
    if (thread < 2) arrive_at(block.empty + place.stage * 8, thread);
  };
  const auto a_of = [&](const Place& place) {
    return descriptor(block.ring + place.stage * kStageBytes +
                      out.group * Sizes<Tile>::kBytesA / 2);
  };
  const auto b_of = [&](const Place& place) {
    return descriptor(block.ring + place.stage * kStageBytes + Sizes<Tile>::kBytesA);
  };
  float d[2][OfHalf::kColumns / 2];
  // Sums on their way. They have been through an instruction other than wgmma: ptxas sees that no
  // product under way changes them, and does not wait for it.
  Kept kept[OfHalf::kColumns / 4] = {};
  const auto keep = [&](int half) {
#pragma unroll
    for (int i = 0; i < OfHalf::kColumns / 4; ++i)
      kept[i] = keep_pair(d[half][i * 2], d[half][i * 2 + 1]);
  };
  const auto multiply_half = [&](const Place& place, int half, bool anew = false) {
    const unsigned long long a = a_of(place) + half * OfHalf::kRow * 8;
    const unsigned long long b = b_of(place) + half * OfHalf::kColumn * 8;
#pragma unroll
    for (int part = 0; part < kDepth / 16; ++part)
      if (anew && part == 0)
        multiply_anew(d[half], a, b);
      else
        multiply(d[half], a + part * 2, b + part * 2);
  };
  int last_row = 1 << 30, last_column = 0;  // Nothing yet: beyond the edge.
  int row, column;
  while (next(row, column)) {
    row += out.group * Tile::kPieces * 64;
    const Place first = at;
    at.next();
    const Place second = at;
    at.next();
    wait(block.full + first.stage * 8, first.parity);
    fence_sums();
    multiply_half(first, 0, true);
    commit();
    out.begin<Tile>();
    out.write<Tile>(kept, 1, 0, last_row, last_column);
    wait(block.full + second.stage * 8, second.parity);
    fence_sums();
    multiply_half(second, 0);
    commit();
#pragma unroll
    for (int part = 1; part < OfHalf::kParts; ++part)
      out.write<Tile>(kept, 1, part, last_row, last_column);
    out.end<Tile>(1, last_row, last_column);
    fence_sums();
    multiply_half(first, 1, true);
    commit();
    multiply_half(second, 1);
    commit();
    wait_for_sums<1>();
    free_stage(first);
    wait_for_sums<0>();
    free_stage(second);
    for (int i = 2; i < block.steps - 2; ++i, at.next()) {
      wait(block.full + at.stage * 8, at.parity);
      const unsigned long long a = a_of(at), b = b_of(at);
      fence_sums();
#pragma unroll
      for (int part = 0; part < kDepth / 16; ++part)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          multiply(d[half], a + half * OfHalf::kRow * 8 + part * 2,
                   b + half * OfHalf::kColumn * 8 + part * 2);
      commit();
      wait_for_sums<0>();
      free_stage(at);
    }
    const Place third = at;
    at.next();
    const Place last = at;
    at.next();
    wait(block.full + third.stage * 8, third.parity);
    fence_sums();
    multiply_half(third, 0);
    wait(block.full + last.stage * 8, last.parity);
    fence_sums();
    multiply_half(last, 0);
    commit();
    multiply_half(third, 1);
    commit();
    multiply_half(last, 1);
    commit();
    wait_for_sums<2>();
    keep(0);
    out.begin<Tile>();
    out.write<Tile>(kept, 0, 0, row, column);
    wait_for_sums<1>();
    free_stage(third);
#pragma unroll
    for (int part = 1; part < OfHalf::kParts; ++part) out.write<Tile>(kept, 0, part, row, column);
    wait_for_sums<0>();
    free_stage(last);
    out.end<Tile>(0, row, column);
    keep(1);
    last_row = row, last_column = column;
  }
  out.begin<Tile>();
#pragma unroll
  for (int part = 0; part < OfHalf::kParts; ++part)
    out.write<Tile>(kept, 1, part, last_row, last_column);
  out.end<Tile>(1, last_row, last_column);
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
  const int boundary = first_small(m, n, static_cast<int>(gridDim.x / 2));
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
  Output out{map_out, block.ring + kStages * kStageBytes + group * kSlots * kSlotBytes, group};
  int tile = first;
  if (LARGE > 0)
    multiply_and_store<Large>(block, at, out, [&](int& row, int& column) {
      if (tile >= count_large) return false;
      large.place(tile, block.rank, row, column);
      tile += stride;
      return true;
    });
  if (LARGE < 4)
    multiply_and_store<Small>(block, at, out, [&](int& row, int& column) {
      if (tile >= count) return false;
      small.place(tile - count_large, block.rank, row, column);
      tile += stride;
      return true;
    });
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
