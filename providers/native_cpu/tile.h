#pragma once

// The register tile: MR rows of packed a times NG groups of columns of b, summed over k into a
// compact tile of f32 or s32. Include it where the mode's instructions are enabled: a template
// takes its target from the place where it is defined.

#include <array>
#include <utility>

#include "gemm_call.h"

namespace assay::native_cpu {

// Rows of the largest tile whose accumulators, operands and one broadcast fit in the registers.
template <class Mode>
constexpr int largest_mr(int groups) {
  const int vectors = groups * Mode::kGroup;
  const int rows = (Mode::kRegisters - vectors - 1) / vectors;
  const int most = vectors == 1 ? 16 : 14;
  return rows < most ? (rows < 1 ? 1 : rows) : most;
}

template <class Mode, int NG>
constexpr int tile_columns() {
  return NG * Mode::kColumns;
}

// What a tile asks to come into the second cache while it computes: memory is fastest in long runs
// that are asked for well before they are read. Moves on from call to call.
template <class Source>
struct Fetch {
  const Source* at = nullptr;
  int64_t per_step = 0;  // rows_fetch_share, packed_fetch_run: elements asked for in each step;
                         // kept_fetch, packed_fetch: lines.
  int64_t left = 0;      // kept_fetch, packed_fetch: lines left of this run,
  int64_t run = 0;       // lines of a run,
  int64_t jump = 0;      // and elements from the end of a run to the start of the next.
  void* keep = nullptr;  // rows_keep: where the operands go, aligned to 64.
};

enum class Operands : uint8_t {
  rows,              // b is a row-major matrix.
  rows_fetch_share,  // The same, and asks for per_step elements in each step, in one run;
  rows_fetch_all,    // or for as many as it reads.
  rows_fetch_near,   // The same, and asks for what lies per_step elements further in its own rows.
  rows_keep,         // As rows, and keeps the operands of each step for later passes:
  kept,              // b holds them, one step after the other.
  kept_fetch,        // The same, and asks for per_step lines in each step.
  packed,            // b holds groups as Mode::store_packed wrote them.
  packed_fetch,      // Asks for per_step lines in each step,
  packed_fetch_run,  // or for per_step elements, in one run.
};

// Where a tile's sums are: its first, and elements from one row to the next.
template <class Sum>
struct SumPlace {
  Sum* at = nullptr;
  int64_t line = 0;
};

// stride: elements of b from one row to the next (packed: from one step to the next; kept: unused).
// sums: [MR][columns] in the mode's order, overwritten. before: what they begin with, in the same
// place or another; nowhere: with zero.
template <class Mode>
using TileFunction = void (*)(int64_t steps, const typename Mode::PackedA* a,
                              const typename Mode::Source* b, int64_t stride,
                              SumPlace<typename Mode::Sum> sums,
                              SumPlace<const typename Mode::Sum> before,
                              Fetch<typename Mode::Source>* fetch);

template <class Mode, int NG, int MR, Operands Kind>
void tile(int64_t steps, const typename Mode::PackedA* a, const typename Mode::Source* b,
          int64_t stride, SumPlace<typename Mode::Sum> sums,
          SumPlace<const typename Mode::Sum> before, Fetch<typename Mode::Source>* fetch) {
  constexpr bool Packed = Kind == Operands::packed || Kind == Operands::packed_fetch ||
                          Kind == Operands::packed_fetch_run;
  constexpr bool kKept = Kind == Operands::kept || Kind == Operands::kept_fetch;
  constexpr bool kNear = Kind == Operands::rows_fetch_near;
  constexpr bool kLines = Kind == Operands::packed_fetch || Kind == Operands::kept_fetch;
  constexpr bool kElements = Kind == Operands::rows_fetch_share ||
                             Kind == Operands::rows_fetch_all || Kind == Operands::packed_fetch_run;
  constexpr int kLine = 64 / static_cast<int>(sizeof(typename Mode::Source));
  constexpr int NV = NG * Mode::kGroup;
  constexpr int kB = Packed ? Mode::kPackedGroup : Mode::kColumns;
  typename Mode::Accumulator sum[MR][NV];
  if (before.at != sums.at) {
    // Outputs that no cache holds come while the sums are made.
    constexpr int kLineSums = 64 / static_cast<int>(sizeof(typename Mode::Sum));
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < NV * Mode::kLanes; v += kLineSums)
        __builtin_prefetch(sums.at + r * sums.line + v, 1, 3);
  }
  if (before.at != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v)
        sum[r][v] = Mode::load(before.at + r * before.line + v * Mode::kLanes);
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = Mode::zero();
  }
  Fetch<typename Mode::Source> next;
  if constexpr (kLines || kElements || kNear) next = *fetch;
  const int64_t advance = Packed ? stride : stride * Mode::kStep;
  typename Mode::Operand* keep = nullptr;
  if constexpr (Kind == Operands::rows_keep)
    keep = static_cast<typename Mode::Operand*>(fetch->keep);
  const auto* kept = reinterpret_cast<const typename Mode::Operand*>(b);
#pragma GCC unroll 2
  for (int64_t s = 0; s < steps; ++s) {
    typename Mode::Operand operand[NV];
    if constexpr (kLines) {
      for (int64_t i = 0; i < next.per_step; ++i) {
        __builtin_prefetch(next.at, 0, 2);
        next.at += kLine;
        if (--next.left == 0) {
          next.at += next.jump;
          next.left = next.run;
        }
      }
    } else if constexpr (kElements) {
      const int64_t count =
          Kind == Operands::rows_fetch_all ? Mode::kStep * NG * kB : next.per_step;
#pragma GCC unroll 16
      for (int64_t j = 0; j < count; j += kLine) __builtin_prefetch(next.at + j, 0, 2);
      next.at += count;
    } else if constexpr (kNear) {
#pragma GCC unroll 2
      for (int r = 0; r < Mode::kStep; ++r)
#pragma GCC unroll 16
        for (int j = 0; j < NG * kB; j += kLine)
          __builtin_prefetch(b + r * stride + next.per_step + j, 0, 3);
    }
    if constexpr (kKept) {
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) operand[v] = kept[s * NV + v];
    } else {
#pragma GCC unroll 16
      for (int g = 0; g < NG; ++g) {
        if constexpr (Packed)
          Mode::load_packed(b + g * kB, operand + g * Mode::kGroup);
        else
          Mode::load_rows(b + g * kB, stride, operand + g * Mode::kGroup);
      }
    }
    if constexpr (Kind == Operands::rows_keep) {
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) keep[s * NV + v] = operand[v];
    }
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r) {
      const auto value = Mode::broadcast(a + r);
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = Mode::fma(value, operand[v], sum[r][v]);
    }
    a += MR;
    b += advance;
  }
  if constexpr (kLines || kElements) *fetch = next;
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) Mode::store(sums.at + r * sums.line + v * Mode::kLanes, sum[r][v]);
}

// table[mr - 1] is the tile of exactly mr rows.
template <class Mode, int NG, Operands Kind>
constexpr auto make_tiles() {
  return []<size_t... I>(std::index_sequence<I...>) {
    return std::array<TileFunction<Mode>, sizeof...(I)>{
        &tile<Mode, NG, static_cast<int>(I) + 1, Kind>...};
  }
  (std::make_index_sequence<static_cast<size_t>(largest_mr<Mode>(NG))>{});
}

template <class Mode, int NG, Operands Kind>
inline constexpr auto kTiles = make_tiles<Mode, NG, Kind>();

}  // namespace assay::native_cpu
