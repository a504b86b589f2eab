#pragma once

// How long a tiled GEMM takes on a GPU, roughly: good for an order, not for a claim.

#include "assay/kernel/tile_design.h"
#include "assay/op/gemm/gemm.h"
#include "gpu.h"

namespace assay::roofline {

// What all kernels of a problem have in common.
struct Work {
  double m = 0, n = 0, k = 0, batch = 1;
  double a_bytes = 2, b_bytes = 2, out_bytes = 2;  // Of an element.
  double operations = 0;                           // Per clock and multiprocessor, of this type.
};
Work work_of(const gemm::View& view, double capability);

// Stages that fit into a multiprocessor's shared memory beside the epilogue's tile, at least 1.
double stages_of(const TileDesign& tile, double tile_k, const Work& work, const Gpu& gpu);

// Of each thread that computes, for sums: a warp group of 128 has a tile of its own with pingpong,
// and where a tile has less than 128 rows; two share one otherwise. A thread has 255 at most.
double accumulator_registers(const TileDesign& tile, const Work& work);
inline constexpr double kMostRegisters = 255;

// Seconds of one launch:
//
//   T = latency + max(T_multiprocessors, T_memory) + T_reduction
//   T_multiprocessors = k blocks of the busiest multiprocessor * T_block + T_epilogue
//
// Tiles and waves. A grid is rounded up to whole clusters, and a cluster's blocks lie together, so
// that S' = floor(S / c) c of S multiprocessors work on clusters of c. The busiest multiprocessor
// has ceil(tiles / S') tiles: the tail is what that is more than tiles / S'. Stream-k has none: k
// blocks are dealt out evenly, but no finer than one.
//
// One k block of a tile on one multiprocessor takes the longest of
//   arithmetic  2 tm tn tk / (operations e), e = min(1, 2 tn' / (64 + tn')) with tn' the narrower
//               side: a multiplier of 64 x n reads (64 + n) rows of shared memory for 64 n
//               products, at 128 bytes a clock (Hopper's wgmma; others are not better off),
//   L2          (tm / cluster_n + tn / cluster_m) tk bytes over 64 bytes a clock, or over the
//               multiprocessor's share of all of L2's 5120: a cluster's blocks that want the same
//               rows load them once,
//   latency     latency / (stages * blocks on the multiprocessor): so many are under way.
//
// Memory gives what it can, but no more than the bytes that are under way, stages of all blocks at
// once, over the latency of busy memory, twice that without load (Little's law). Every operand
// once where a and b fit into L2 together; else each wave loads its rows and columns again, its
// tiles being as square as they can be.
//
// Epilogue: the last tile is written through the port while nothing is computed; with pingpong, and
// where two blocks share a multiprocessor, those before it hide behind another tile's arithmetic,
// without them they do not. Reduction: parts of f32, written and read again by L2, and one more
// latency; stream-k also clears its counters, by a launch of its own ahead.
double estimate_seconds(const TileDesign& tile, const Work& work, const Gpu& gpu);

}  // namespace assay::roofline
