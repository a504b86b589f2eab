#pragma once

// Small m, b as [k,n]: a few rows of b are read side by side along n, so that memory sees a
// handful of long sequential streams, while the partial results of a block of columns stay compact
// (tile after tile) in the nearest caches. A power-of-two row stride in out therefore costs
// nothing.
//
// kKeep: where the rows of a make several passes over a tile's block of b, the first one writes the
// operands down as it used them, widened or in pairs. The others neither widen them again nor read
// rows of b whose stride, a power of two, throws them out of the first cache; and it is they that
// ask for what comes next in the rows, while the first one waits for its own lines.

#include "pack.h"
#include "split.h"
#include "tile.h"

namespace assay::native_cpu {

template <class Mode, int NG, bool kKeep>
struct RowsKernel {
  using Source = typename Mode::Source;
  using PackedA = typename Mode::PackedA;
  using Sum = typename Mode::Sum;
  static constexpr int64_t kWidth = tile_columns<Mode, NG>();
  // A tile reads so many lines of 64 bytes from each row of b, and in each step.
  static constexpr int64_t kLine = 64 / sizeof(Source);
  static constexpr int64_t kRowLines = (kWidth + kLine - 1) / kLine;
  static constexpr int64_t kStepLines = Mode::kStep * kRowLines;

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
    return aligned(sums) + aligned(edge) + kept_bytes(call, tiling);
  }
  static int64_t kept_bytes(const GemmCall& call, const Tiling& tiling) {
    if (!kKeep) return 0;
    return aligned(steps_of<Mode>(block_k(call, tiling)) * NG * Mode::kGroup *
                   static_cast<int64_t>(sizeof(typename Mode::Operand)));
  }
  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    return a_bytes(call) + offset_bytes<Mode>(call.m) + tiling.threads * part_bytes(call, tiling);
  }

  // What the passes of all rows of a over one tile's block of b have in common.
  struct Block {
    const RowPasses& passes;
    const PackedA* a;  // Of all steps: pass p begins at first(p) * steps_all + step0 * count(p).
    int64_t steps_all, step0, steps;
    const Source* b;
    int64_t stride;  // Elements from one row of b to the next.
    Sum* sums;
    bool accumulate;
    void run(int64_t pass, const auto& tiles, const Source* operands, Fetch<Source>* fetch) const {
      const int mr = passes.count(pass);
      Sum* const to = sums + passes.first(pass) * kWidth;
      tiles[static_cast<size_t>(mr - 1)](steps, a + passes.first(pass) * steps_all + step0 * mr,
                                         operands, stride, {to, kWidth},
                                         {accumulate ? to : nullptr, kWidth}, fetch);
    }
  };

  // ahead: as in the tiling. fetch: begins where the next block's share of this tile lies.
  static void run_rows(const Block& block, int ahead, Fetch<Source> fetch) {
    const int64_t passes = block.passes.passes;
    int64_t unasked = 0;
    if (ahead > 1) {
      fetch.per_step = ahead / static_cast<int64_t>(sizeof(Source));
    } else if (ahead == 1) {
      // Whole lines, so that all passes together ask for as much as the tile reads.
      fetch.per_step = std::max<int64_t>((kStepLines + passes - 1) / passes, 1) * kLine;
      unasked = block.steps * Mode::kStep * kWidth;
    }
    for (int64_t p = 0; p < passes; ++p) {
      block.run(p,
                ahead > 1 && p == 0 ? kTiles<Mode, NG, Operands::rows_fetch_near>
                : unasked <= 0      ? kTiles<Mode, NG, Operands::rows>
                : passes == 1       ? kTiles<Mode, NG, Operands::rows_fetch_all>
                                    : kTiles<Mode, NG, Operands::rows_fetch_share>,
                block.b, &fetch);
      unasked -= block.steps * fetch.per_step;
    }
  }

  static void run_kept(const Block& block, int ahead, void* keep) {
    const int64_t later = block.passes.passes - 1;
    Fetch<Source> fetch;
    fetch.keep = keep;
    block.run(0, kTiles<Mode, NG, Operands::rows_keep>, block.b, &fetch);
    fetch.at = block.b + ahead / static_cast<int64_t>(sizeof(Source));
    fetch.run = fetch.left = kRowLines;
    fetch.jump = block.stride - kRowLines * kLine;
    if (later > 0) fetch.per_step = (kStepLines + later - 1) / later;
    int64_t unasked = ahead > 0 ? block.steps * kStepLines : 0;
    for (int64_t p = 1; p <= later; ++p) {
      block.run(
          p,
          unasked > 0 ? kTiles<Mode, NG, Operands::kept_fetch> : kTiles<Mode, NG, Operands::kept>,
          static_cast<const Source*>(keep), &fetch);
      unasked -= block.steps * fetch.per_step;
    }
  }

  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, Range columns,
                       const PackedA* a, const Sum* offsets, std::byte* space) {
    const int64_t nc = block_columns(call, tiling), kc = block_k(call, tiling);
    const RowPasses passes(call.m, std::min(tiling.mr, largest_mr<Mode>(NG)));
    const int64_t steps_all = steps_of<Mode>(call.k);
    auto* sums = reinterpret_cast<Sum*>(space);
    auto* edge = reinterpret_cast<Source*>(space + aligned(nc * call.m * 4));
    [[maybe_unused]] void* keep = space + part_bytes(call, tiling) - kept_bytes(call, tiling);
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch;
    for (int64_t jc = columns.begin; jc < columns.end; jc += nc) {
      const int64_t end = std::min(jc + nc, columns.end);
      int64_t k0 = 0;
      do {
        const int64_t kk = std::min(kc, call.k - k0);
        const int64_t step0 = k0 / Mode::kStep;
        for (int64_t j = jc; j < end; j += kWidth) {
          const int64_t width = std::min(kWidth, end - j);
          const Source* corner = b + k0 * call.b_row + j;
          // Whole steps of whole tiles come straight from b; the rest by way of a padded copy.
          const int64_t direct = width == kWidth ? kk / Mode::kStep : 0;
          const int64_t copied = steps_of<Mode>(kk) - direct;
          if (copied > 0)
            pack_panel<Mode, NG>(corner + direct * Mode::kStep * call.b_row, call.b_row, 1,
                                 kk - direct * Mode::kStep, width, edge);
          Block block{.passes = passes,
                      .a = a,
                      .steps_all = steps_all,
                      .step0 = step0,
                      .steps = direct,
                      .b = corner,
                      .stride = call.b_row,
                      .sums = sums + (j - jc) * call.m,
                      .accumulate = k0 > 0};
          if (direct > 0 || copied == 0) {
            if constexpr (kKeep) {
              run_kept(block, tiling.ahead, keep);
            } else {
              // The tiles take a few lines from each of kc rows; the next block of k is asked for
              // row after row instead, each tile's share of that run spread over its passes.
              const int64_t at = (j - jc) * kc, run = end - jc;
              const bool last = k0 + kc >= call.k;
              Fetch<Source> fetch;
              fetch.at =
                  b + (at / run + (last ? 0 : k0 + kc)) * call.b_row + (last ? end : jc) + at % run;
              run_rows(block, tiling.ahead, fetch);
            }
          }
          if (copied == 0) continue;
          block.step0 += direct;
          block.steps = copied;
          block.stride = NG * Mode::kPackedGroup;
          block.accumulate = k0 > 0 || direct > 0;
          for (int64_t p = 0; p < passes.passes; ++p)
            block.run(p, kTiles<Mode, NG, Operands::packed>, edge, nullptr);
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
