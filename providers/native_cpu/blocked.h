#pragma once

// The general kernel: blocks of packed a times panels of b, which are packed on the fly or were
// prepared ahead. Partial results live in a compact block, and reach out once.

#include "pack.h"
#include "split.h"
#include "tile.h"

namespace assay::native_cpu {

template <class Mode, int NG, bool Prepared>
struct BlockedKernel {
  using Source = typename Mode::Source;
  using PackedA = typename Mode::PackedA;
  using Sum = typename Mode::Sum;
  static constexpr int64_t kWidth = tile_columns<Mode, NG>();
  static constexpr int64_t kStepElements = NG * Mode::kPackedGroup;

  static constexpr int64_t kLine = 64 / sizeof(Source);

  struct Blocks {
    int64_t mc, nc, kc;
    bool ahead;
    Blocks(const GemmCall& call, const Tiling& tiling) {
      const int64_t n = (call.n + kWidth - 1) / kWidth * kWidth;
      const int64_t k = std::max<int64_t>(steps_of<Mode>(call.k), 1) * Mode::kStep;
      ahead = tiling.ahead != 0;
      mc = tiling.mc == 0 ? call.m : std::min<int64_t>(call.m, tiling.mc);
      nc = tiling.nc == 0 ? n : std::min(n, (tiling.nc + kWidth - 1) / kWidth * kWidth);
      kc = tiling.kc == 0 ? k : std::min(k, steps_of<Mode>(tiling.kc) * Mode::kStep);
    }
    int64_t a_bytes(const GemmCall& call) const {
      return aligned(mc * steps_of<Mode>(call.k) * static_cast<int64_t>(sizeof(PackedA)));
    }
    int64_t b_bytes() const {
      return Prepared ? 0
                      : aligned(nc / kWidth * kc / Mode::kStep * kStepElements *
                                static_cast<int64_t>(sizeof(Source)));
    }
    int64_t sum_bytes() const { return aligned(mc * nc * 4); }
  };

  static int64_t part_bytes(const GemmCall& call, const Tiling& tiling) {
    const Blocks blocks(call, tiling);
    return blocks.a_bytes(call) + offset_bytes<Mode>(blocks.mc) + blocks.b_bytes() +
           blocks.sum_bytes();
  }
  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    return tiling.threads * part_bytes(call, tiling);
  }

  // Prepared panels: [batch][panel][step][group], whole k.
  static int64_t panel_elements(const GemmCall& call) {
    return steps_of<Mode>(call.k) * kStepElements;
  }
  static int64_t prepared_bytes(const GemmCall& call) {
    const int64_t panels = (call.n + kWidth - 1) / kWidth;
    return call.l * panels * panel_elements(call) * static_cast<int64_t>(sizeof(Source));
  }
  static int prepare(const GemmCall& call, void* prepared) {
    auto* out = static_cast<Source*>(prepared);
    for (int64_t batch = 0; batch < call.l; ++batch)
      for (int64_t j = 0; j < call.n; j += kWidth, out += panel_elements(call))
        pack_panel<Mode, NG>(
            static_cast<const Source*>(call.b) + batch * call.b_batch + j * call.b_column,
            call.b_row, call.b_column, call.k, std::min(kWidth, call.n - j), out);
    return 0;
  }

  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, Range rows,
                       Range columns, std::byte* space) {
    const Blocks blocks(call, tiling);
    auto* a = reinterpret_cast<PackedA*>(space);
    auto* offsets = reinterpret_cast<Sum*>(space + blocks.a_bytes(call));
    space += blocks.a_bytes(call) + offset_bytes<Mode>(blocks.mc);
    auto* packed_b = reinterpret_cast<Source*>(space);
    auto* sums = reinterpret_cast<Sum*>(space + blocks.b_bytes());
    const int mr_most = std::min(tiling.mr, largest_mr<Mode>(NG));
    for (int64_t ic = rows.begin; ic < rows.end; ic += blocks.mc) {
      const RowPasses passes(std::min(blocks.mc, rows.end - ic), mr_most);
      find_offsets<Mode>(call, batch, ic, passes.rows, offsets);
      // Packed a is [block of k][pass][step][row].
      for (int64_t k0 = 0; k0 < call.k; k0 += blocks.kc)
        for (int64_t p = 0; p < passes.passes; ++p) {
          const int64_t kk = std::min(blocks.kc, call.k - k0);
          pack_a<Mode>(call, batch, ic + passes.first(p), passes.count(p), k0, kk,
                       a + k0 / Mode::kStep * passes.rows + passes.first(p) * steps_of<Mode>(kk));
        }
      for (int64_t jc = columns.begin; jc < columns.end; jc += blocks.nc)
        block(call, blocks, batch, ic, passes, {jc, std::min(jc + blocks.nc, columns.end)}, a,
              packed_b, sums, offsets);
    }
  }

  static void block(const GemmCall& call, const Blocks& blocks, int64_t batch, int64_t row0,
                    const RowPasses& passes, Range columns, const PackedA* a, Source* packed_b,
                    Sum* sums, const Sum* offsets) {
    const int64_t tiles = (columns.size() + kWidth - 1) / kWidth;
    // Of one pass over k; more of them go to memory that is compact, whatever out's stride.
    const bool may_store = blocks.kc >= call.k && stores_sums<Mode>(call);
    const auto stores = [&](int64_t t) {
      return may_store && columns.end - columns.begin - t * kWidth >= kWidth;
    };
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch;
    const int64_t panels_all = (call.n + kWidth - 1) / kWidth;
    const auto* prepared = static_cast<const Source*>(call.panels) +
                           (Prepared ? batch * panels_all * panel_elements(call) : 0);
    int64_t k0 = 0;
    do {
      const int64_t kk = std::min(blocks.kc, call.k - k0), steps = steps_of<Mode>(kk);
      if constexpr (!Prepared)
        for (int64_t t = 0; t < tiles; ++t) {
          const int64_t j = columns.begin + t * kWidth;
          pack_panel<Mode, NG>(b + k0 * call.b_row + j * call.b_column, call.b_row, call.b_column,
                               kk, std::min(kWidth, columns.end - j),
                               packed_b + t * steps * kStepElements);
        }
      // While this block is at work, the next one is asked for, along its lines in memory.
      Fetch<Source> fetch;
      int64_t unasked = 0;
      if (!Prepared && blocks.ahead) {
        const bool last = k0 + blocks.kc >= call.k, by_rows = call.b_column == 1;
        fetch.at = b + (last ? 0 : k0 + blocks.kc) * call.b_row +
                   (last ? columns.end : columns.begin) * call.b_column;
        const int64_t length = by_rows ? columns.size() : kk, lines = by_rows ? kk : columns.size();
        fetch.run = fetch.left = std::max<int64_t>(length / kLine, 1);
        fetch.jump = (by_rows ? call.b_row : call.b_column) - fetch.run * kLine;
        unasked = fetch.run * lines;
      }
      // Panels lie in the order in which single tiles read them: what follows this block is next,
      // and each pass asks for its share of as much as this block holds.
      int64_t unshared = 0;
      if (Prepared && blocks.ahead && tiles == 1) {
        const int64_t lines = (kStepElements + kLine - 1) / kLine;
        fetch.per_step = (lines + passes.passes - 1) / passes.passes * kLine;
        fetch.at = prepared + columns.begin / kWidth * panel_elements(call) +
                   (k0 / Mode::kStep + steps) * kStepElements;
        unshared = steps * lines * kLine;
      }
      for (int64_t p = 0; p < passes.passes; ++p) {
        const int mr = passes.count(p);
        const PackedA* rows = a + k0 / Mode::kStep * passes.rows + passes.first(p) * steps;
        for (int64_t t = 0; t < tiles; ++t) {
          const Source* panel = Prepared ? prepared +
                                               (columns.begin / kWidth + t) * panel_elements(call) +
                                               k0 / Mode::kStep * kStepElements
                                         : packed_b + t * steps * kStepElements;
          const auto& table = unasked > 0    ? kTiles<Mode, NG, Operands::packed_fetch>
                              : unshared > 0 ? kTiles<Mode, NG, Operands::packed_fetch_run>
                                             : kTiles<Mode, NG, Operands::packed>;
          unasked -= steps;
          unshared -= steps * fetch.per_step;
          SumPlace<Sum> place{sums + (t * passes.rows + passes.first(p)) * kWidth, kWidth};
          if (stores(t))
            place = {static_cast<Sum*>(call.d) + batch * call.d_batch +
                         (row0 + passes.first(p)) * call.d_row + columns.begin + t * kWidth,
                     call.d_row};
          table[static_cast<size_t>(mr - 1)](steps, rows, panel, kStepElements, place, k0 > 0,
                                             &fetch);
        }
      }
      k0 += blocks.kc;
    } while (k0 < call.k);
    for (int64_t t = 0; t < tiles; ++t) {
      if (stores(t)) continue;
      const int64_t j = columns.begin + t * kWidth;
      finish_tile<Mode, NG>(call, batch, row0, passes.rows, j, std::min(kWidth, columns.end - j),
                            sums + t * passes.rows * kWidth, offsets);
    }
  }

  static int run(const GemmCall& call, const Tiling& tiling, void* workspace) {
    if (call.m == 0 || call.n == 0) return 0;
    // Columns are split while each thread has a tile to itself, otherwise rows.
    const bool by_columns = call.n >= tiling.threads * kWidth;
    for (int64_t batch = 0; batch < call.l; ++batch) {
      const bool ran = on_threads(tiling.threads, [&](int part) {
        const Range rows =
            by_columns ? Range{0, call.m} : part_of(call.m, tiling.mr, part, tiling.threads);
        const Range columns =
            by_columns ? part_of(call.n, kWidth, part, tiling.threads) : Range{0, call.n};
        run_part(call, tiling, batch, rows, columns,
                 static_cast<std::byte*>(workspace) + part * part_bytes(call, tiling));
      });
      if (!ran) return 1;
    }
    return 0;
  }
};

}  // namespace assay::native_cpu
