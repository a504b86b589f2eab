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

  // Lines of memory, `length` elements each and `stride` elements apart, that tiles ask for before
  // they are packed: per_step lines of the cache in each step.
  struct Ahead {
    Fetch<Source> fetch;
    int64_t unasked = 0;  // Lines of the cache.

    Ahead() = default;
    Ahead(const Source* at, int64_t length, int64_t lines, int64_t stride) {
      fetch.at = at;
      fetch.per_step = 1;
      fetch.run = fetch.left = (length + kLine - 1) / kLine;
      fetch.jump = stride - fetch.run * kLine;
      unasked = fetch.run * lines;
    }
    static Ahead of_b(const GemmCall& call, const Source* b, int64_t k0, int64_t kk,
                      Range columns) {
      const Source* at = b + k0 * call.b_row + columns.begin * call.b_column;
      return call.b_column == 1 ? Ahead(at, columns.size(), kk, call.b_row)
                                : Ahead(at, kk, columns.size(), call.b_column);
    }
    // Within one tile of so many steps.
    Ahead at_once(int64_t steps) && {
      fetch.per_step = (unasked + steps - 1) / std::max<int64_t>(steps, 1);
      return *this;
    }
  };

  // What a thread computes: columns of rows of a that are packed as they are first used.
  struct Part {
    const GemmCall& call;
    const Blocks& blocks;
    int64_t batch, row0;
    const RowPasses& passes;
    Range columns;
    PackedA* a;  // [block of k][pass][step][row]; of one pass where only one block of columns is.
    Source* packed_b;
    Sum* sums;
    const Sum* offsets;

    PackedA* rows(int64_t p, int64_t k0, int64_t steps) const {
      if (columns.size() <= blocks.nc) return a;
      return a + k0 / Mode::kStep * passes.rows + passes.first(p) * steps;
    }
    // Rows of a that are packed after pass p of the block of k that begins at k0.
    Ahead next_rows(int64_t p, int64_t k0, int64_t steps) const {
      const bool wraps = p + 1 == passes.passes;
      const int64_t next = wraps ? 0 : p + 1, k1 = wraps ? k0 + blocks.kc : k0;
      if (k1 >= call.k || call.a_column != 1) return {};
      const auto* at = static_cast<const Source*>(call.a) + batch * call.a_batch +
                       (row0 + passes.first(next)) * call.a_row + k1;
      return Ahead(at, std::min(blocks.kc, call.k - k1), passes.count(next), call.a_row)
          .at_once(steps);
    }
  };

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
      const Part part{call, blocks, batch, ic, passes, columns, a, packed_b, sums, offsets};
      for (int64_t jc = columns.begin; jc < columns.end; jc += blocks.nc)
        block(part, {jc, std::min(jc + blocks.nc, columns.end)});
    }
  }

  static void block(const Part& part, Range columns) {
    const GemmCall& call = part.call;
    const Blocks& blocks = part.blocks;
    const RowPasses& passes = part.passes;
    const int64_t batch = part.batch;
    const int64_t tiles = (columns.size() + kWidth - 1) / kWidth;
    const bool first = columns.begin == part.columns.begin;
    const bool last = columns.end == part.columns.end;
    // Sums of the last pass over k; others go to memory that is compact, whatever out's stride.
    const bool may_store = stores_sums<Mode>(call);
    const auto stores = [&](int64_t t) {
      return may_store && columns.end - columns.begin - t * kWidth >= kWidth;
    };
    const auto columns_of = [&](int64_t t) {
      const int64_t j = columns.begin + t * kWidth;
      return Range{j, std::min(j + kWidth, columns.end)};
    };
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch;
    const int64_t panels_all = (call.n + kWidth - 1) / kWidth;
    const auto* prepared = static_cast<const Source*>(call.panels) +
                           (Prepared ? batch * panels_all * panel_elements(call) : 0);
    int64_t k0 = 0;
    do {
      const int64_t kk = std::min(blocks.kc, call.k - k0), steps = steps_of<Mode>(kk);
      const bool last_k = k0 + blocks.kc >= call.k;
      // While this block is at work, the next one is asked for, along its lines in memory; of the
      // first, each panel while the one before it is, unless they are packed together.
      Ahead next;
      const bool asks = !Prepared && blocks.ahead, was_asked = !asks || !first || k0 > 0;
      if (asks && !(last && last_k))
        next = Ahead::of_b(call, b, last_k ? 0 : k0 + blocks.kc, kk,
                           last_k ? Range{columns.end, columns.end + columns.size()} : columns);
      // Panels lie in the order in which single tiles read them: what follows this block is next,
      // and each pass asks for its share of as much as this block holds.
      Fetch<Source> panels;
      int64_t unshared = 0;
      if (Prepared && blocks.ahead && tiles == 1 && !(last && last_k)) {
        const int64_t lines = (kStepElements + kLine - 1) / kLine;
        panels.per_step = (lines + passes.passes - 1) / passes.passes * kLine;
        panels.at = prepared + columns.begin / kWidth * panel_elements(call) +
                    (k0 / Mode::kStep + steps) * kStepElements;
        unshared = steps * lines * kLine;
      }
      // Panels of b that are packed together; the others are as they are first used.
      const bool together = call.b_column == 1 && tiles > 1 && kk % Mode::kStep == 0;
      const int64_t whole = together ? columns.size() / kWidth : 0;
      for (int64_t p = 0; p < passes.passes; ++p) {
        const int mr = passes.count(p);
        PackedA* const rows = part.rows(p, k0, steps);
        Ahead next_rows;
        if (first) {
          pack_a<Mode>(call, batch, part.row0 + passes.first(p), mr, k0, kk, rows);
          next_rows = part.next_rows(p, k0, steps);
        }
        for (int64_t t = 0; t < tiles; ++t) {
          const Source* panel = Prepared ? prepared +
                                               (columns.begin / kWidth + t) * panel_elements(call) +
                                               k0 / Mode::kStep * kStepElements
                                         : part.packed_b + t * steps * kStepElements;
          Ahead next_panel;
          if constexpr (!Prepared) {
            if (p == 0 && t == 0 && whole > 0)
              pack_whole_panels<Mode, NG>(b + k0 * call.b_row + columns.begin, call.b_row, steps,
                                          whole, part.packed_b, steps * kStepElements);
            if (p == 0 && t >= whole) {
              const Range here = columns_of(t);
              pack_panel<Mode, NG>(b + k0 * call.b_row + here.begin * call.b_column, call.b_row,
                                   call.b_column, kk, here.size(),
                                   part.packed_b + t * steps * kStepElements);
              if (!was_asked && whole == 0 && t + 1 < tiles)
                next_panel = Ahead::of_b(call, b, k0, kk, columns_of(t + 1)).at_once(steps);
            }
          }
          Ahead* const ahead = next_panel.unasked > 0  ? &next_panel
                               : next_rows.unasked > 0 ? &next_rows
                               : next.unasked > 0      ? &next
                                                       : nullptr;
          const auto& table = ahead != nullptr ? kTiles<Mode, NG, Operands::packed_fetch>
                              : unshared > 0   ? kTiles<Mode, NG, Operands::packed_fetch_run>
                                               : kTiles<Mode, NG, Operands::packed>;
          Sum* const compact = part.sums + (t * passes.rows + passes.first(p)) * kWidth;
          SumPlace<Sum> place{compact, kWidth};
          if (last_k && stores(t))
            place = {static_cast<Sum*>(call.d) + batch * call.d_batch +
                         (part.row0 + passes.first(p)) * call.d_row + columns.begin + t * kWidth,
                     call.d_row};
          table[static_cast<size_t>(mr - 1)](steps, rows, panel, kStepElements, place,
                                             {k0 > 0 ? compact : nullptr, kWidth},
                                             ahead != nullptr ? &ahead->fetch : &panels);
          if (ahead != nullptr)
            ahead->unasked -= steps * ahead->fetch.per_step;
          else
            unshared -= steps * panels.per_step;
        }
      }
      k0 += blocks.kc;
    } while (k0 < call.k);
    for (int64_t t = 0; t < tiles; ++t) {
      if (stores(t)) continue;
      const Range here = columns_of(t);
      finish_tile<Mode, NG>(call, batch, part.row0, passes.rows, here.begin, here.size(),
                            part.sums + t * passes.rows * kWidth, part.offsets);
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
