#pragma once

// The register tile: MR rows of packed a times NG groups of columns of b, summed over k into a
// compact tile of f32. Include it where the mode's instructions are enabled: a template takes its
// target from the place where it is defined.

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

// packed: b holds groups as Mode::store_packed wrote them. Otherwise b is a row-major matrix.
// stride: elements of b from one row to the next (packed: from one step to the next).
// rows_fetch_share asks for ahead_per_step elements in each step, in one run from `ahead` on, to
// come into the second cache; rows_fetch_all for as many as it reads. sums: [MR][columns] in the
// mode's order; added to when accumulate, overwritten otherwise.
template <class Mode>
using TileFunction = void (*)(int64_t steps, const typename Mode::PackedA* a,
                              const typename Mode::Source* b, int64_t stride, float* sums,
                              bool accumulate, const typename Mode::Source* ahead,
                              int64_t ahead_per_step);

enum class Operands : uint8_t { rows, rows_fetch_share, rows_fetch_all, packed };

template <class Mode, int NG, int MR, Operands Kind>
void tile(int64_t steps, const typename Mode::PackedA* a, const typename Mode::Source* b,
          int64_t stride, float* sums, bool accumulate, const typename Mode::Source* ahead,
          int64_t ahead_per_step) {
  constexpr bool Packed = Kind == Operands::packed;
  constexpr int NV = NG * Mode::kGroup;
  constexpr int kB = Packed ? Mode::kPackedGroup : Mode::kColumns;
  typename Mode::Accumulator sum[MR][NV];
  if (accumulate) {
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = Mode::load(sums + (r * NV + v) * Mode::kLanes);
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = Mode::zero();
  }
  const int64_t advance = Packed ? stride : stride * Mode::kStep;
#pragma GCC unroll 2
  for (int64_t s = 0; s < steps; ++s) {
    typename Mode::Operand operand[NV];
    if constexpr (Kind == Operands::rows_fetch_share || Kind == Operands::rows_fetch_all) {
      constexpr int kLine = 64 / static_cast<int>(sizeof(typename Mode::Source));
      const int64_t count =
          Kind == Operands::rows_fetch_all ? Mode::kStep * NG * kB : ahead_per_step;
#pragma GCC unroll 16
      for (int64_t j = 0; j < count; j += kLine) __builtin_prefetch(ahead + j, 0, 2);
      ahead += count;
    }
#pragma GCC unroll 16
    for (int g = 0; g < NG; ++g) {
      if constexpr (Packed)
        Mode::load_packed(b + g * kB, operand + g * Mode::kGroup);
      else
        Mode::load_rows(b + g * kB, stride, operand + g * Mode::kGroup);
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
#pragma GCC unroll 16
  for (int r = 0; r < MR; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) Mode::store(sums + (r * NV + v) * Mode::kLanes, sum[r][v]);
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
