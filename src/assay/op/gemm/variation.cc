#include "assay/op/gemm/variation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "assay/base/random.h"

namespace assay::gemm {
namespace {

template <class Bits>
Bits read(const std::byte* from, int64_t index) {
  Bits value;
  std::memcpy(&value, from + index * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}
template <class Bits>
void write(std::byte* to, int64_t index, Bits value) {
  std::memcpy(to + index * static_cast<int64_t>(sizeof value), &value, sizeof value);
}

// What `value` is with its sign turned where `one` and `other` have different signs.
template <class Bits>
Bits turned(Bits value, Bits one, Bits other) {
  if constexpr (std::is_signed_v<Bits>) {  // An integer.
    const auto mask = static_cast<Bits>((one ^ other) >> (8 * sizeof(Bits) - 1));
    return static_cast<Bits>((value ^ mask) - mask);
  } else {
    constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    return static_cast<Bits>(value ^ ((one ^ other) & kSign));
  }
}

// count elements, `step` apart, each of the first source's with signs of the others'.
template <class Bits>
void vary_run(std::byte* to, const std::array<const std::byte*, 3>& from, int64_t count,
              int64_t step) {
  const auto vary = [&](int64_t i) {
    write(to, i, turned(read<Bits>(from[0], i), read<Bits>(from[1], i), read<Bits>(from[2], i)));
  };
  if (step == 1) {
    for (int64_t i = 0; i < count; ++i) vary(i);
  } else {
    for (int64_t i = 0; i < count; ++i) vary(i * step);
  }
}

using Offsets = std::array<int64_t, 3>;  // Below k.

// A row in pieces, between the places where one of the three sources begins again.
template <class Bits>
void vary_row(const Matrix& from, const Matrix& to, int64_t batch, int64_t row,
              const Offsets& offsets) {
  const int64_t k = to.columns;
  std::array<int64_t, 5> ends = {0, k - offsets[0], k - offsets[1], k - offsets[2], k};
  std::sort(ends.begin(), ends.end());
  for (size_t piece = 0; piece + 1 < ends.size(); ++piece) {
    const int64_t first = ends[piece], count = ends[piece + 1] - first;
    std::array<const std::byte*, 3> sources;
    for (size_t i = 0; i < sources.size(); ++i)
      sources[i] = from.at(batch, row, (first + offsets[i]) % k);
    vary_run<Bits>(to.at(batch, row, first), sources, count, to.column_stride);
  }
}

// The operand with rows for lines along k: with b seen as its transpose, so in both.
Matrix lines_of(const View& sizes, size_t varied) {
  return varied == 0 ? matrix_a(sizes) : matrix_b(sizes).transposed();
}

// Of one batch. By some distance at least: what was there before is never right.
Offsets offsets_of(uint64_t seed, int64_t batch, int64_t k) {
  const CounterRandom random{seed, 0x76617279};
  const auto below = [&](uint64_t index, int64_t bound) {
    return static_cast<int64_t>(
        random.below(3 * static_cast<uint64_t>(batch) + index, static_cast<uint64_t>(bound)));
  };
  return {k > 1 ? 1 + below(0, k - 1) : 0, below(1, k), below(2, k)};
}

// Rows are lines along k. Where columns lie together, they are gone through instead.
template <class Bits>
void vary_rows(const Matrix& from, const Matrix& to, uint64_t seed) {
  const int64_t k = to.columns;
  for (int64_t batch = 0; batch < to.batches; ++batch) {
    const Offsets offsets = offsets_of(seed, batch, k);
    if (to.column_stride <= to.row_stride) {
      for (int64_t row = 0; row < to.rows; ++row) vary_row<Bits>(from, to, batch, row, offsets);
      continue;
    }
    for (int64_t p = 0; p < k; ++p) {
      std::array<const std::byte*, 3> sources;
      for (size_t i = 0; i < sources.size(); ++i)
        sources[i] = from.at(batch, 0, (p + offsets[i]) % k);
      vary_run<Bits>(to.at(batch, 0, p), sources, to.rows, to.row_stride);
    }
  }
}

}  // namespace

size_t varied_operand_of(const Problem& problem) {
  const auto operands = problem.operands();
  for (size_t i = 0; i < 2 && i < operands.size(); ++i)
    if (operands[i].lifetime == Lifetime::per_call) return i;
  return operands.size();
}

std::vector<TurnedLines> turned_lines(const Problem& problem, uint64_t seed) {
  std::vector<TurnedLines> turned;
  const size_t varied = varied_operand_of(problem);
  const auto sizes = view(problem);
  if (seed == 0 || varied > 1 || !sizes) return turned;
  const Matrix lines = lines_of(*sizes, varied);
  for (int64_t batch = 0; batch < lines.batches; ++batch)
    turned.push_back({.dtype = lines.dtype,
                      .first = batch * lines.batch_stride,
                      .lines = lines.rows,
                      .length = lines.columns,
                      .line_stride = lines.row_stride,
                      .element_stride = lines.column_stride,
                      .offsets = offsets_of(seed, batch, lines.columns)});
  return turned;
}

void vary_operand(const Problem& problem, uint64_t seed, std::span<const std::byte> pristine,
                  std::span<std::byte> destination) {
  const size_t bytes = std::min(pristine.size(), destination.size());
  if (bytes > 0) std::memcpy(destination.data(), pristine.data(), bytes);
  const size_t varied = varied_operand_of(problem);
  const auto sizes = view(problem);
  if (seed == 0 || varied > 1 || !sizes) return;
  if (bytes < static_cast<size_t>(problem.operands()[varied].span_bytes)) return;
  const Matrix lines = lines_of(*sizes, varied);
  const Matrix from = with_data(lines, pristine), to = with_data(lines, destination);
  switch (to.dtype) {
    case DType::f64:
      return vary_rows<uint64_t>(from, to, seed);
    case DType::f32:
      return vary_rows<uint32_t>(from, to, seed);
    case DType::s8:
      return vary_rows<int8_t>(from, to, seed);
    default:
      return vary_rows<uint16_t>(from, to, seed);
  }
}

}  // namespace assay::gemm
