#include "estimate.h"

#include <algorithm>
#include <cmath>

#include "assay/device/cuda/limits.h"

namespace assay::roofline {
namespace {

// A block's registers: 65,536 of 4 bytes a multiprocessor, of which accumulators may have two
// thirds before they spill.
constexpr double kAccumulatorBytes = 65536 * 4 * 2.0 / 3;
constexpr double kPartBytes = 4;      // Sums of parts are f32.
constexpr double kLoadedLatency = 2;  // Of memory that is busy, in latencies without load.
// A kernel behind another on a stream, however little it does: stream-k's counters are cleared so.
constexpr double kLaunchSeconds = 2e-6;

double ceil_div(double a, double b) { return std::ceil(a / b); }
double round_up(double a, double b) { return ceil_div(a, b) * b; }

// One row of shared memory as TMA and ldmatrix swizzle it: the usual depth of a block.
double tile_k_of(const TileDesign& tile, const Work& work) {
  return tile.tile_k > 0 ? static_cast<double>(tile.tile_k) : 128 / work.a_bytes;
}

double epilogue_bytes(const TileDesign& tile, const Work& work) {
  return static_cast<double>(tile.tile_m * tile.tile_n) * work.out_bytes;
}

double stage_bytes(const TileDesign& tile, double tile_k, const Work& work) {
  return tile_k * (static_cast<double>(tile.tile_m) * work.a_bytes +
                   static_cast<double>(tile.tile_n) * work.b_bytes);
}

// Blocks of one multiprocessor.
double occupancy(const TileDesign& tile, double tile_k, double stages, const Work& work,
                 const Gpu& gpu) {
  const double shared = stages * stage_bytes(tile, tile_k, work);
  const double accumulators = static_cast<double>(tile.tile_m * tile.tile_n) * kPartBytes;
  const double fit =
      std::min(std::floor(gpu.shared_bytes / shared), std::floor(kAccumulatorBytes / accumulators));
  return std::clamp(fit, 1.0, 8.0);
}

// Bytes that come from memory where operands do not stay in L2: each column of waves reads all of a
// again, each row of waves all of b.
double memory_bytes(const Work& work, double tiles_m, double tiles_n, double at_once,
                    const TileDesign& tile) {
  // The wave's tiles, as square as they can be.
  const double wave = std::min(at_once, tiles_m * tiles_n);
  const double shape = static_cast<double>(tile.tile_n) / static_cast<double>(tile.tile_m);
  double high = std::clamp(std::round(std::sqrt(wave * shape)), 1.0, tiles_m);
  const double wide = std::clamp(std::floor(wave / high), 1.0, tiles_n);
  high = std::clamp(std::floor(wave / wide), 1.0, tiles_m);
  const double a = work.m * work.k * work.a_bytes * ceil_div(tiles_n, wide);
  const double b = work.n * work.k * work.b_bytes * ceil_div(tiles_m, high);
  return work.batch * (a + b + work.m * work.n * work.out_bytes);
}

}  // namespace

Work work_of(const gemm::View& view, double capability) {
  Work work;
  work.m = static_cast<double>(view.m);
  work.n = static_cast<double>(view.n);
  work.k = static_cast<double>(view.k);
  work.batch = static_cast<double>(view.l);
  work.a_bytes = static_cast<double>(size_bytes(view.a));
  work.b_bytes = static_cast<double>(size_bytes(view.b));
  work.out_bytes = static_cast<double>(size_bytes(view.out));
  work.operations = cuda::tensor_operations(capability, view.a);
  return work;
}

double stages_of(const TileDesign& tile, double tile_k, const Work& work, const Gpu& gpu) {
  if (tile.stages > 0) return static_cast<double>(tile.stages);
  const double room = gpu.shared_bytes - epilogue_bytes(tile, work);
  return std::max(1.0, std::floor(room / stage_bytes(tile, tile_k, work)));
}

double accumulator_registers(const TileDesign& tile, const Work& work) {
  const double threads = tile.pingpong || tile.tile_m < 128 ? 128 : 256;
  const double each = work.a_bytes == 8 ? 2 : 1;  // Registers of one sum: f64, else f32 or s32.
  return static_cast<double>(tile.tile_m * tile.tile_n) * each / threads;
}

double estimate_seconds(const TileDesign& tile, const Work& work, const Gpu& gpu) {
  const double tm = static_cast<double>(tile.tile_m), tn = static_cast<double>(tile.tile_n);
  const double cm = static_cast<double>(tile.cluster_m), cn = static_cast<double>(tile.cluster_n);
  const double tk = tile_k_of(tile, work);
  const double stages = stages_of(tile, tk, work, gpu);
  const double split = std::max(
      1.0, std::min(static_cast<double>(tile.split_k), std::max(1.0, ceil_div(work.k, tk))));

  const double tiles_m = round_up(std::max(1.0, ceil_div(work.m, tm)), cm);
  const double tiles_n = round_up(std::max(1.0, ceil_div(work.n, tn)), cn);
  const double blocks_k = std::max(1.0, ceil_div(std::max(1.0, ceil_div(work.k, tk)), split));
  const double tiles = tiles_m * tiles_n * std::max(1.0, work.batch) * split;
  const double working = std::max(cm * cn, std::floor(gpu.multiprocessors / (cm * cn)) * cm * cn);
  const double busy = std::min(working, tiles);

  // One k block of a tile, in clocks.
  const double narrow = std::min(tm, tn);
  const double efficiency = std::min(1.0, 2 * narrow / (64 + narrow));
  const double arithmetic = 2 * tm * tn * tk / (work.operations * efficiency);
  const double l2_bytes = tk * (tm / cn * work.a_bytes + tn / cm * work.b_bytes);
  const double l2 = l2_bytes / std::min(gpu.l2_port_bytes, gpu.l2_bytes_per_clock / busy);
  const double resident =
      std::min(occupancy(tile, tk, stages, work, gpu), std::max(1.0, ceil_div(tiles, working)));
  const double latency = gpu.latency_seconds * gpu.clock_hz;
  const double block = std::max({arithmetic, l2, latency / (stages * resident)});

  // What the busiest multiprocessor does.
  double k_blocks = ceil_div(tiles, working) * blocks_k;
  double share = ceil_div(tiles, working);  // Tiles that it finishes.
  if (tile.stream_k) {
    k_blocks = std::max(1.0, ceil_div(tiles * blocks_k, working));
    share = std::max(1.0, tiles / working);
  }
  const double write = tm * tn * work.out_bytes / gpu.l2_port_bytes;
  const bool hides = tile.pingpong || resident >= 2;
  const double epilogues = hides ? write : share * write;
  const double on_multiprocessors = (k_blocks * block + epilogues) / gpu.clock_hz;

  const double operands = work.batch * (work.m * work.a_bytes + work.n * work.b_bytes) * work.k;
  const double from_memory =
      operands <= gpu.l2_bytes
          ? operands + work.batch * work.m * work.n * work.out_bytes
          : memory_bytes(work, tiles_m, tiles_n, working / std::max(1.0, split), tile);
  const double under_way = busy * resident * stages * stage_bytes(tile, tk, work);
  const double by_memory =
      from_memory /
      std::min(gpu.dram_bytes_per_second, under_way / (kLoadedLatency * gpu.latency_seconds));

  double reduction = tile.stream_k ? kLaunchSeconds : 0;
  const bool has_parts = split > 1 || (tile.stream_k && std::fmod(tiles, working) != 0);
  if (has_parts) {
    const double parts = split > 1 ? tiles : busy;
    const double bytes = 2 * parts * tm * tn * kPartBytes;  // Written, and read again.
    const double rate = std::min(gpu.l2_bytes_per_clock, busy * gpu.l2_port_bytes);
    reduction += bytes / (rate * gpu.clock_hz) + gpu.latency_seconds;
  }
  return gpu.latency_seconds + std::max(on_multiprocessors, by_memory) + reduction;
}

}  // namespace assay::roofline
