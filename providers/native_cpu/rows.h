#pragma once

// Small m, b as [k,n]: a few rows of b are read side by side along n, so that memory sees a
// handful of long sequential streams, while the partial results of a block of columns stay compact
// (tile after tile) in the nearest caches. A power-of-two row stride in out therefore costs
// nothing.

#include "pack.h"
#include "split.h"
#include "tile.h"

namespace assay::native_cpu {

template <class Mode, int NG>
struct RowsKernel {
  using Source = typename Mode::Source;
  using PackedA = typename Mode::PackedA;
  using Sum = typename Mode::Sum;
  static constexpr int64_t kWidth = tile_columns<Mode, NG>();

  static int64_t block_columns(const GemmCall& call, const Tiling& tiling) {
    const int64_t all = (call.n + kWidth - 1) / kWidth * kWidth;
    const int64_t wanted = tiling.nc == 0 ? all : (tiling.nc + kWidth - 1) / kWidth * kWidth;
    return std::min(all, wanted);
  }
  static int64_t block_k(const GemmCall& call, const Tiling& tiling) {
    const int64_t even = (std::max<int64_t>(call.k, 1) + Mode::kStep - 1) / Mode::kStep;
    const int64_t steps = tiling.kc == 0 ? even : (tiling.kc + Mode::kStep - 1) / Mode::kStep;
    return std::min(even, steps) * Mode::kStep;
  }
  static int64_t a_bytes(const GemmCall& call) {
    return aligned(call.m * steps_of<Mode>(call.k) * static_cast<int64_t>(sizeof(PackedA)));
  }
  static int64_t part_bytes(const GemmCall& call, const Tiling& tiling) {
    const int64_t sums = block_columns(call, tiling) * call.m * 4;
    const int64_t edge = steps_of<Mode>(block_k(call, tiling)) * NG * Mode::kPackedGroup *
                         static_cast<int64_t>(sizeof(Source));
    return aligned(sums) + aligned(edge);
  }
  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    return a_bytes(call) + offset_bytes<Mode>(call.m) + tiling.threads * part_bytes(call, tiling);
  }

  // Whole lines of 64 bytes, so that all passes together fetch what a tile reads.
  static int64_t fetched_per_step(int64_t passes) {
    constexpr int64_t kLine = 64 / sizeof(Source), kLines = Mode::kStep * kWidth / kLine;
    return std::max<int64_t>((kLines + passes - 1) / passes, 1) * kLine;
  }

  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, Range columns,
                       const PackedA* a, const Sum* offsets, std::byte* space) {
    const int64_t nc = block_columns(call, tiling), kc = block_k(call, tiling);
    const RowPasses passes(call.m, std::min(tiling.mr, largest_mr<Mode>(NG)));
    const int64_t steps_all = steps_of<Mode>(call.k);
    auto* sums = reinterpret_cast<Sum*>(space);
    auto* edge = reinterpret_cast<Source*>(space + aligned(nc * call.m * 4));
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch;
    for (int64_t jc = columns.begin; jc < columns.end; jc += nc) {
      const int64_t end = std::min(jc + nc, columns.end);
      int64_t k0 = 0;
      do {
        const int64_t kk = std::min(kc, call.k - k0);
        const int64_t step0 = k0 / Mode::kStep;
        for (int64_t j = jc; j < end; j += kWidth) {
          const int64_t width = std::min(kWidth, end - j);
          Sum* tile_sums = sums + (j - jc) * call.m;
          const Source* corner = b + k0 * call.b_row + j;
          // Whole steps of whole tiles come straight from b; the rest by way of a padded copy.
          const int64_t direct = width == kWidth ? kk / Mode::kStep : 0;
          const int64_t copied = steps_of<Mode>(kk) - direct;
          if (copied > 0)
            pack_panel<Mode, NG>(corner + direct * Mode::kStep * call.b_row, call.b_row, 1,
                                 kk - direct * Mode::kStep, width, edge);
          Fetch<Source> fetch;
          int64_t unasked = 0;
          if (tiling.ahead > 1) {
            fetch.per_step = tiling.ahead / static_cast<int64_t>(sizeof(Source));
          } else if (tiling.ahead == 1) {
            // The tiles take a few lines from each of kc rows; the next block of k is asked for row
            // after row instead, each tile's share of that run spread over its passes.
            const int64_t at = (j - jc) * kc, run = end - jc;
            const bool last = k0 + kc >= call.k;
            fetch.at =
                b + (at / run + (last ? 0 : k0 + kc)) * call.b_row + (last ? end : jc) + at % run;
            fetch.per_step = fetched_per_step(passes.passes);
            unasked = direct * Mode::kStep * kWidth;
          }
          for (int64_t p = 0; p < passes.passes; ++p) {
            const int mr = passes.count(p);
            const PackedA* rows = a + passes.first(p) * steps_all + step0 * mr;
            Sum* pass_sums = tile_sums + passes.first(p) * kWidth;
            if (direct > 0 || copied == 0) {
              const auto& tiles =
                  tiling.ahead > 1 && p == 0 ? kTiles<Mode, NG, Operands::rows_fetch_near>
                  : unasked <= 0             ? kTiles<Mode, NG, Operands::rows>
                  : passes.passes == 1       ? kTiles<Mode, NG, Operands::rows_fetch_all>
                                             : kTiles<Mode, NG, Operands::rows_fetch_share>;
              unasked -= direct * fetch.per_step;
              tiles[static_cast<size_t>(mr - 1)](direct, rows, corner, call.b_row, pass_sums,
                                                 k0 > 0, &fetch);
            }
            if (copied > 0)
              kTiles<Mode, NG, Operands::packed>[static_cast<size_t>(mr - 1)](
                  copied, rows + direct * mr, edge, NG * Mode::kPackedGroup, pass_sums,
                  k0 > 0 || direct > 0, nullptr);
          }
        }
        k0 += kc;
      } while (k0 < call.k);
      for (int64_t j = jc; j < end; j += kWidth)
        finish_tile<Mode, NG>(call, batch, 0, call.m, j, std::min(kWidth, end - j),
                              sums + (j - jc) * call.m, offsets);
    }
  }

  static int run(const GemmCall& call, const Tiling& tiling, void* workspace) {
    if (call.m == 0 || call.n == 0) return 0;
    auto* a = static_cast<PackedA*>(workspace);
    auto* offsets = reinterpret_cast<Sum*>(static_cast<std::byte*>(workspace) + a_bytes(call));
    auto* space = static_cast<std::byte*>(workspace) + a_bytes(call) + offset_bytes<Mode>(call.m);
    const RowPasses passes(call.m, std::min(tiling.mr, largest_mr<Mode>(NG)));
    for (int64_t batch = 0; batch < call.l; ++batch) {
      for (int64_t p = 0; p < passes.passes; ++p)
        pack_a<Mode>(call, batch, passes.first(p), passes.count(p), 0, call.k,
                     a + passes.first(p) * steps_of<Mode>(call.k));
      find_offsets<Mode>(call, batch, 0, call.m, offsets);
      const bool ran = on_threads(tiling.threads, [&](int part) {
        run_part(call, tiling, batch, part_of(call.n, kWidth, part, tiling.threads), a, offsets,
                 space + part * part_bytes(call, tiling));
      });
      if (!ran) return 1;
    }
    return 0;
  }
};

}  // namespace assay::native_cpu
