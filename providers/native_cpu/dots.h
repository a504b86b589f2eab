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
                             const typename Mode::Source* const* b, float* sums, bool accumulate);

// a: [vector][MR][kDot], zero beyond k. b: NR pointers to rows. tail: elements of k beyond the
// whole vectors. sums: [MR][NR] vectors.
template <class Mode, int MR, int NR>
void dot_tile(int64_t vectors, int tail, const typename Mode::Source* a,
              const typename Mode::Source* const* b, float* sums, bool accumulate) {
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
      Mode::load_dot(a + r * Mode::kDot, value);
#pragma GCC unroll 16
      for (int j = 0; j < NR; ++j)
#pragma GCC unroll 2
        for (int o = 0; o < kOperands; ++o)
          sum[r][j] = Mode::fma(value[o], operand[j][o], sum[r][j]);
    }
    a += MR * Mode::kDot;
  };
  for (int64_t v = 0; v < vectors; ++v) {
    typename Mode::Operand operand[NR][kOperands];
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j) Mode::load_dot(line[j] + v * Mode::kDot, operand[j]);
    multiply(operand);
  }
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
  static constexpr int kDot = Mode::kDot;
  // Room for MR * NR sums, the operands of b and one of a.
  static constexpr int kLargest =
      std::min(8, (Mode::kRegisters - (NR + 1) * Mode::kDotOperands) / NR);

  static constexpr auto make_table() {
    return []<size_t... I>(std::index_sequence<I...>) {
      return std::array<DotFunction<Mode>, sizeof...(I)>{
          &dot_tile<Mode, static_cast<int>(I) + 1, NR>...};
    }
    (std::make_index_sequence<static_cast<size_t>(kLargest)>{});
  }
  static constexpr auto kTable = make_table();

  static int64_t block_k(const GemmCall& call, const Tiling& tiling) {
    const int64_t all = std::max<int64_t>((call.k + kDot - 1) / kDot * kDot, kDot);
    return tiling.kc == 0 ? all : std::min<int64_t>(all, (tiling.kc + kDot - 1) / kDot * kDot);
  }
  static int64_t a_bytes(const GemmCall& call) {
    return aligned(call.m * ((call.k + kDot - 1) / kDot * kDot) *
                   static_cast<int64_t>(sizeof(Source)));
  }
  static int64_t part_bytes(const GemmCall& call) {
    return aligned(call.m * NR * Mode::kLanes * 4);
  }
  static int64_t workspace_bytes(const GemmCall& call, const Tiling& tiling) {
    return a_bytes(call) + tiling.threads * part_bytes(call);
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

  static void finish(const GemmCall& call, int64_t batch, int64_t rows, int64_t column0,
                     int64_t columns, const float* sums) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j) {
        const float sum = Mode::sum(Mode::load(sums + (r * NR + j) * Mode::kLanes));
        store_one(call, batch, r, column0 + j, sum);
      }
  }

  static void run_part(const GemmCall& call, const Tiling& tiling, int64_t batch, Range columns,
                       const Source* a, float* sums) {
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
        for (int64_t p = 0; p < passes.passes; ++p) {
          const int mr = passes.count(p);
          kTable[static_cast<size_t>(mr - 1)](kk / kDot, static_cast<int>(kk % kDot),
                                              a + passes.first(p) * k_padded + k0 * mr, line,
                                              sums + passes.first(p) * NR * Mode::kLanes, k0 > 0);
        }
        k0 += kc;
      } while (k0 < call.k);
      finish(call, batch, call.m, j, std::min<int64_t>(NR, columns.end - j), sums);
    }
  }

  static int run(const GemmCall& call, const Tiling& tiling, void* workspace) {
    if (call.m == 0 || call.n == 0) return 0;
    auto* a = static_cast<Source*>(workspace);
    auto* space = static_cast<std::byte*>(workspace) + a_bytes(call);
    const RowPasses passes(call.m, std::min(tiling.mr, kLargest));
    const int64_t k_padded = (call.k + kDot - 1) / kDot * kDot;
    for (int64_t batch = 0; batch < call.l; ++batch) {
      for (int64_t p = 0; p < passes.passes; ++p)
        pack(call, batch, passes.first(p), passes.count(p), a + passes.first(p) * k_padded);
      const bool ran = on_threads(tiling.threads, [&](int part) {
        run_part(call, tiling, batch, part_of(call.n, NR, part, tiling.threads), a,
                 reinterpret_cast<float*>(space + part * part_bytes(call)));
      });
      if (!ran) return 1;
    }
    return 0;
  }
};

}  // namespace assay::native_cpu
