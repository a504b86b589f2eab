#pragma once

// Small m, b as [n,k]: dot products along k of MR rows of a with NR rows of b at a time, one
// vector of partial sums per pair, added across its lanes at the end. a is packed vector by vector
// so that rows of equal alignment do not fall into one set of the cache.

#include "pack.h"
#include "split.h"
#include "tile.h"

namespace assay::native_cpu {

template <class Mode>
using DotFunction = void (*)(int64_t vectors, int tail, const typename Mode::Source* a,
                             const typename Mode::Source* const* b, typename Mode::Sum* sums,
                             bool accumulate, const typename Mode::Source* ahead,
                             int64_t ahead_stride, int ahead_rows);

enum class DotFetch : uint8_t { none, share, all };

// a: [vector][MR][kDot], zero beyond k. b: NR pointers to rows. tail: elements of k beyond the
// whole vectors. sums: [MR][NR] vectors. DotFetch: asks for as many vectors of some other rows of b
// into the second cache, one row after the other: ahead_rows from `ahead` on, ahead_stride apart.
template <class Mode, int MR, int NR, DotFetch kFetch>
void dot_tile(int64_t vectors, int tail, const typename Mode::Source* a,
              const typename Mode::Source* const* b, typename Mode::Sum* sums, bool accumulate,
              const typename Mode::Source* ahead, int64_t ahead_stride, int ahead_rows) {
  constexpr int kLanes = Mode::kLanes, kOperands = Mode::kDotOperands;
  typename Mode::Accumulator sum[MR][NR];
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
      sum[r][j] = accumulate ? Mode::load(sums + (r * NR + j) * kLanes) : Mode::zero();
  const typename Mode::Source* line[NR];
#pragma GCC unroll 16
  for (int j = 0; j < NR; ++j) line[j] = b[j];
  const auto multiply = [&](const typename Mode::Operand(&operand)[NR][kOperands])
      __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r) {
      typename Mode::Operand value[kOperands];
      Mode::load_dot_a(a + r * Mode::kDot, value);
#pragma GCC unroll 16
      for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
        for (int o = 0; o < kOperands; ++o)
          sum[r][j] = Mode::fma(value[o], operand[j][o], sum[r][j]);
    }
    a += MR * Mode::kDot;
  };
  int64_t v = 0;
  const auto step = [&]() __attribute__((always_inline)) {
    typename Mode::Operand operand[NR][kOperands];
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j) Mode::load_dot(line[j] + v * Mode::kDot, operand[j]);
    multiply(operand);
    ++v;
  };
  if constexpr (kFetch == DotFetch::all) ahead_rows = NR;  // Known here, so that the loop unrolls.
  if constexpr (kFetch != DotFetch::none) {
    constexpr int kLine = 64 / static_cast<int>(sizeof(typename Mode::Source));
    const int64_t share = vectors / ahead_rows, per_step = ahead_rows * Mode::kDot;
    for (int j = 0; j < ahead_rows; ++j) {
      const typename Mode::Source* fetched = ahead + j * ahead_stride;
      for (int64_t i = 0; i < share; ++i, fetched += per_step) {
        const int64_t count = kFetch == DotFetch::all ? NR * Mode::kDot : per_step;
#pragma GCC unroll 16
        for (int64_t at = 0; at < count; at += kLine) __builtin_prefetch(fetched + at, 0, 2);
        step();
      }
    }
  }
  while (v < vectors) step();
  if (tail > 0) {
    typename Mode::Operand operand[NR][kOperands];
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
      Mode::load_dot_tail(line[j] + vectors * Mode::kDot, tail, operand[j]);
    multiply(operand);
  }
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j) Mode::store(sums + (r * NR + j) * kLanes, sum[r][j]);
}

template <class Mode, int NR>
struct DotsKernel {
  using Source = typename Mode::Source;
  using Sum = typename Mode::Sum;
  static constexpr int kDot = Mode::kDot;
  // Room for MR * NR sums, the operands of b and one of a.
  static constexpr int kLargest =
      std::min(8, (Mode::kRegisters - (NR + 1) * Mode::kDotOperands) / NR);

  template <DotFetch kFetch>
  static constexpr auto make_table() {
    return []<size_t... I>(std::index_sequence<I...>) {
      return std::array<DotFunction<Mode>, sizeof...(I)>{
          &dot_tile<Mode, static_cast<int>(I) + 1, NR, kFetch>...};
    }
    (std::make_index_sequence<static_cast<size_t>(kLargest)>{});
  }
  static constexpr auto kTable = make_table<DotFetch::none>();
  static constexpr auto kTableShare = make_table<DotFetch::share>();
  static constexpr auto kTableAll = make_table<DotFetch::all>();

  static int64_t block_k(const GemmCall& call, const Tiling& tiling) {
    const int64_t all = std::max<int64_t>((call.k + kDot - 1) / kDot * kDot, kDot);
    return tiling.kc == 0 ? all : std::min<int64_t>(all, (tiling.kc + kDot - 1) / kDot * kDot);
  }
  static int64_t a_bytes(const GemmCall& call) {
    return aligned(call.m * ((call.k + kDot - 1) / kDot * kDot) *
                   static_cast<int64_t>(sizeof(Source)));
  }
  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    return a_bytes(call) + offset_bytes<Mode>(call.m) + tiling.threads * part_bytes(call);
  }

  // packed[vector][rows][kDot]
  static void pack(const GemmCall& call, int64_t batch, int64_t row0, int64_t rows,
                   Source* packed) {
    const auto* a = static_cast<const Source*>(call.a) + batch * call.a_batch + row0 * call.a_row;
    for (int64_t k0 = 0; k0 < call.k; k0 += kDot) {
      const int64_t count = std::min<int64_t>(kDot, call.k - k0);
      for (int64_t r = 0; r < rows; ++r, packed += kDot) {
        const Source* from = a + r * call.a_row + k0 * call.a_column;
        if (call.a_column == 1)
          std::memcpy(packed, from, static_cast<size_t>(count) * sizeof(Source));
        else
          for (int64_t i = 0; i < count; ++i) packed[i] = from[i * call.a_column];
        std::fill(packed + count, packed + kDot, Source{});
      }
    }
  }

  // Rows of out are written some lines at a time: one store into each of many rows whose stride is
  // a power of two would throw the others out of the cache.
  static constexpr int kBlock = NR * 32;
  static int64_t sum_bytes(const GemmCall& call) { return aligned(call.m * NR * Mode::kLanes * 4); }
  static int64_t part_bytes(const GemmCall& call) {
    return sum_bytes(call) + aligned(call.m * kBlock * 4);
  }

  // The block is what is left of it.
  static void finish(const GemmCall& call, int64_t batch, int64_t column0, int64_t columns,
                     Sum* block) {
    if constexpr (std::is_same_v<Sum, float>) {
      if (call.step_count > 0) return finish_with_steps(call, batch, column0, columns, block);
    }
    constexpr auto kBytes = static_cast<int64_t>(sizeof(Sum));
    const bool plain = element_bytes(call.out) == kBytes && call.beta == 0 && call.d_column == 1;
    for (int64_t r = 0; r < call.m; ++r) {
      const Sum* sums = block + r * kBlock;
      if (plain) {
        Sum* out = static_cast<Sum*>(call.d) + batch * call.d_batch + r * call.d_row + column0;
        const Sum alpha = alpha_of<Sum>(call);
        for (int64_t j = 0; j < columns; ++j) out[j] = product(alpha, sums[j]);
      } else {
        for (int64_t j = 0; j < columns; ++j) store_one(call, batch, r, column0 + j, sums[j]);
      }
    }
  }

  static void finish_with_steps(const GemmCall& call, int64_t batch, int64_t column0,
                                int64_t columns, float* block) {
    for (int64_t r = 0; r < call.m; ++r) {
      float* line = block + r * kBlock;
      for (int64_t j = 0; j < columns; ++j) line[j] *= call.alpha;
      if (call.beta != 0) {
        const int64_t from = batch * call.c_batch + r * call.c_row + column0 * call.c_column;
        for (int64_t j = 0; j < columns; ++j)
          line[j] += call.beta * read_element<float>(call.out, call.c, from + j * call.c_column);
      }
      Steps<Mode>::run(call, batch, r, column0, columns, line);
      const int64_t to = batch * call.d_batch + r * call.d_row + column0 * call.d_column;
      for (int64_t j = 0; j < columns; ++j)
        write_element(call.out, call.d, to + j * call.d_column, line[j]);
    }
  }

  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, Range columns,
                       const Source* a, const Sum* offsets, std::byte* space) {
    auto* sums = reinterpret_cast<Sum*>(space);
    auto* block = reinterpret_cast<Sum*>(space + sum_bytes(call));
    int64_t block_begin = columns.begin;
    const RowPasses passes(call.m, std::min(tiling.mr, kLargest));
    const int64_t kc = block_k(call, tiling);
    const int64_t k_padded = (call.k + kDot - 1) / kDot * kDot;
    const auto* b = static_cast<const Source*>(call.b) + batch * call.b_batch;
    for (int64_t j = columns.begin; j < columns.end; j += NR) {
      int64_t k0 = 0;
      do {
        const int64_t kk = std::min(kc, call.k - k0);
        const Source* line[NR];
        // A missing last row repeats the one before; its sums are not written.
        for (int64_t i = 0; i < NR; ++i)
          line[i] = b + std::min(j + i, columns.end - 1) * call.b_column + k0;
        // The next block: on along the same rows, or the start of the next ones.
        const Source* ahead = k0 + kc < call.k ? line[0] + kc : b + (j + NR) * call.b_column;
        for (int64_t p = 0; p < passes.passes; ++p) {
          const int mr = passes.count(p);
          // Each pass fetches its share, so that memory is kept busy while the later ones compute.
          const int64_t first = NR * p / passes.passes;
          const int share = static_cast<int>(NR * (p + 1) / passes.passes - first);
          const bool fetch = tiling.ahead != 0 && share > 0;
          const auto& table = !fetch ? kTable : share < NR ? kTableShare : kTableAll;
          table[static_cast<size_t>(mr - 1)](kk / kDot, static_cast<int>(kk % kDot),
                                             a + passes.first(p) * k_padded + k0 * mr, line,
                                             sums + passes.first(p) * NR * Mode::kLanes, k0 > 0,
                                             ahead + first * call.b_column, call.b_column, share);
        }
        k0 += kc;
      } while (k0 < call.k);
      // In place: sum i is written where vector i / kLanes has been read already.
      Mode::sum_lanes(sums, call.m * NR, sums);
      for (int64_t r = 0; r < call.m; ++r) {
        const Sum offset = Mode::kOffset == 0 ? 0 : offsets[r];
        for (int64_t i = 0; i < NR; ++i)
          block[r * kBlock + (j - block_begin) + i] = sum(sums[r * NR + i], offset);
      }
      if (j + NR >= block_begin + kBlock || j + NR >= columns.end) {
        finish(call, batch, block_begin, std::min(j + NR, columns.end) - block_begin, block);
        block_begin = j + NR;
      }
    }
  }

  static int run(const GemmCall& call, const Tiling& tiling, void* workspace) {
    if (call.m == 0 || call.n == 0) return 0;
    auto* a = static_cast<Source*>(workspace);
    auto* offsets = reinterpret_cast<Sum*>(static_cast<std::byte*>(workspace) + a_bytes(call));
    auto* space = static_cast<std::byte*>(workspace) + a_bytes(call) + offset_bytes<Mode>(call.m);
    const RowPasses passes(call.m, std::min(tiling.mr, kLargest));
    const int64_t k_padded = (call.k + kDot - 1) / kDot * kDot;
    for (int64_t batch = 0; batch < call.l; ++batch) {
      for (int64_t p = 0; p < passes.passes; ++p)
        pack(call, batch, passes.first(p), passes.count(p), a + passes.first(p) * k_padded);
      find_offsets<Mode>(call, batch, 0, call.m, offsets);
      const bool ran = on_threads(tiling.threads, [&](int part) {
        run_part(call, tiling, batch, part_of(call.n, NR, part, tiling.threads), a, offsets,
                 space + part * part_bytes(call));
      });
      if (!ran) return 1;
    }
    return 0;
  }
};

}  // namespace assay::native_cpu
