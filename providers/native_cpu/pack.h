#pragma once

// Packing a and b, and writing finished tiles to the output. See tile.h for where to include it.

#include "scalar.h"
#include "split.h"
#include "steps.h"

namespace assay::native_cpu {

template <class Mode>
constexpr int64_t steps_of(int64_t k) {
  return (k + Mode::kStep - 1) / Mode::kStep;
}

// packed[step][rows]: rows of a from a_row on, k values from k0 on; what a last step lacks is zero.
template <class Mode>
void pack_a(const GemmCall& call, int64_t batch, int64_t row0, int64_t rows, int64_t k0, int64_t kk,
            typename Mode::PackedA* packed) {
  using Source = typename Mode::Source;
  constexpr int64_t kStep = Mode::kStep;
  const auto* a = static_cast<const Source*>(call.a) + batch * call.a_batch + row0 * call.a_row +
                  k0 * call.a_column;
  int64_t whole = 0;  // Steps that are packed already, of all rows.
  // Words as they are: 16 rows and steps at a time.
  if constexpr (requires { Mode::interleave_words(nullptr, 0, 0, 0, nullptr); } &&
                kStep * sizeof(Source) == 4 && sizeof(typename Mode::PackedA) == 4)
    if (call.a_column == 1) {
      whole = kk / kStep;
      Mode::interleave_words(reinterpret_cast<const std::byte*>(a),
                             call.a_row * static_cast<int64_t>(sizeof(Source)), rows, whole,
                             reinterpret_cast<std::byte*>(packed));
    }
  for (int64_t r = 0; r < rows; ++r) {
    const Source* row = a + r * call.a_row;
    typename Mode::PackedA* out = packed + r;
    int64_t s = whole;
    for (; s < kk / kStep; ++s) {
      Source values[kStep];
      for (int64_t i = 0; i < kStep; ++i) values[i] = row[(s * kStep + i) * call.a_column];
      out[s * rows] = Mode::packed(values);
    }
    if (kk % kStep != 0) {
      Source values[kStep] = {};
      for (int64_t i = 0; i < kk % kStep; ++i) values[i] = row[(s * kStep + i) * call.a_column];
      out[s * rows] = Mode::packed(values);
    }
  }
}

// Modes that add kOffset to each element of b, because their instruction wants it unsigned, sum
// kOffset times each row of a too much: what is to be added to each sum of the row for that.
template <class Mode>
int64_t offset_bytes(int64_t rows) {
  return Mode::kOffset == 0 ? 0 : aligned(rows * static_cast<int64_t>(sizeof(typename Mode::Sum)));
}
template <class Mode>
void find_offsets(const GemmCall& call, int64_t batch, int64_t row0, int64_t rows,
                  typename Mode::Sum* offsets) {
  if constexpr (Mode::kOffset != 0) {
    const auto* a = static_cast<const typename Mode::Source*>(call.a) + batch * call.a_batch +
                    row0 * call.a_row;
    for (int64_t r = 0; r < rows; ++r) {
      uint32_t total = 0;
      for (int64_t i = 0; i < call.k; ++i)
        total += static_cast<uint32_t>(int32_t{a[r * call.a_row + i * call.a_column]});
      offsets[r] = product(-Mode::kOffset, static_cast<int32_t>(total));
    }
  }
}

// One step of one group whose rows or columns are cut short by the edge of b.
template <class Mode>
void pack_edge(const typename Mode::Source* b, int64_t b_row, int64_t rows, int64_t columns,
               typename Mode::Source* packed) {
  alignas(64) typename Mode::Source whole[Mode::kStep * Mode::kColumns] = {};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) whole[i * Mode::kColumns + j] = b[i * b_row + j];
  typename Mode::Operand operand[Mode::kGroup];
  Mode::load_rows(whole, Mode::kColumns, operand);
  Mode::store_packed(packed, operand);
}

// b lies along k: four-byte elements (a value of f32, a pair of bf16) are transposed in blocks.
template <class Mode, int NG>
void pack_along_k(const typename Mode::Source* b, int64_t b_column, int64_t kk, int64_t columns,
                  typename Mode::Source* packed) {
  constexpr int64_t kStepElements = NG * Mode::kPackedGroup;
  constexpr int64_t kVector = Mode::kPackedGroup / Mode::kGroup;  // Elements of one vector.
  const int64_t steps = steps_of<Mode>(kk);
  typename Mode::Operand zero;
  std::memset(&zero, 0, sizeof(zero));
  // Sixteen columns from end to end before the next sixteen: memory sees that many streams.
  for (int v = 0; v < NG * Mode::kGroup; ++v) {
    const typename Mode::Source* column[16];
    int present = 0;
    for (int i = 0; i < 16; ++i) {
      const int64_t at = (v / Mode::kGroup) * Mode::kColumns + Mode::column_of(v % Mode::kGroup, i);
      column[i] = at < columns ? b + at * b_column : nullptr;
      present += at < columns;
    }
    typename Mode::Source* out = packed + v * kVector;
    int64_t s = 0;
    for (; present == 16 && (s + 16) * Mode::kStep <= kk; s += 16, out += 16 * kStepElements) {
      typename Mode::Operand lines[16];
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) Mode::load_dot(column[i] + s * Mode::kStep, lines + i);
      Mode::transpose(lines);
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) Mode::store_vector(out + i * kStepElements, lines[i]);
    }
    for (; s < steps; s += 16, out += 16 * kStepElements) {
      const int64_t k0 = s * Mode::kStep;
      const int count = static_cast<int>(std::min<int64_t>(Mode::kDot, kk - k0));
      typename Mode::Operand lines[16];
      for (int i = 0; i < 16; ++i) {
        lines[i] = zero;
        if (column[i] == nullptr) continue;
        if (count == Mode::kDot)
          Mode::load_dot(column[i] + k0, lines + i);
        else
          Mode::load_dot_tail(column[i] + k0, count, lines + i);
      }
      Mode::transpose(lines);
      for (int64_t i = 0; i < std::min<int64_t>(16, steps - s); ++i)
        Mode::store_vector(out + i * kStepElements, lines[i]);
    }
  }
}

// b lies in any other way: some steps of a group at a time, each column from end to end, since the
// columns of one step may all fall into one set of a cache.
template <class Mode, int NG>
void pack_across(const typename Mode::Source* b, int64_t b_row, int64_t b_column, int64_t kk,
                 int64_t columns, typename Mode::Source* packed) {
  using Source = typename Mode::Source;
  constexpr int64_t kStepElements = NG * Mode::kPackedGroup;
  constexpr int64_t kSteps = 16, kRows = kSteps * Mode::kStep;
  const int64_t steps = steps_of<Mode>(kk);
  alignas(64) Source whole[kRows * Mode::kColumns];
  for (int64_t g = 0; g < NG; ++g) {
    const int64_t left = std::clamp<int64_t>(columns - g * Mode::kColumns, 0, Mode::kColumns);
    for (int64_t first = 0; first < steps; first += kSteps) {
      const int64_t rows = std::min<int64_t>(kRows, kk - first * Mode::kStep);
      if (rows < kRows || left < Mode::kColumns)
        for (Source& value : whole) value = Source{};
      const Source* corner = b + first * Mode::kStep * b_row + g * Mode::kColumns * b_column;
      for (int64_t j = 0; j < left; ++j)
        for (int64_t i = 0; i < rows; ++i)
          whole[i * Mode::kColumns + j] = corner[i * b_row + j * b_column];
      for (int64_t s = 0; s < std::min(kSteps, steps - first); ++s) {
        typename Mode::Operand operand[Mode::kGroup];
        Mode::load_rows(whole + s * Mode::kStep * Mode::kColumns, Mode::kColumns, operand);
        Mode::store_packed(packed + (first + s) * kStepElements + g * Mode::kPackedGroup, operand);
      }
    }
  }
}

// Whole panels of b that lies along n, `panel_elements` apart, row of b after row of b: memory
// gives a run of a row sooner than as many lines of different rows. Rows that come soon are asked
// for.
template <class Mode, int NG>
void pack_whole_panels(const typename Mode::Source* b, int64_t b_row, int64_t steps, int64_t panels,
                       typename Mode::Source* packed, int64_t panel_elements) {
  constexpr int64_t kStepElements = NG * Mode::kPackedGroup, kAhead = 8;
  for (int64_t s = 0; s < steps; ++s, b += Mode::kStep * b_row, packed += kStepElements)
    for (int64_t panel = 0; panel < panels; ++panel)
#pragma GCC unroll 8
      for (int g = 0; g < NG; ++g) {
        const typename Mode::Source* from = b + (panel * NG + g) * Mode::kColumns;
        for (int64_t i = 0; i < Mode::kStep; ++i) __builtin_prefetch(from + (kAhead + i) * b_row);
        typename Mode::Operand operand[Mode::kGroup];
        Mode::load_rows(from, b_row, operand);
        Mode::store_packed(packed + panel * panel_elements + g * Mode::kPackedGroup, operand);
      }
}

// A panel of NG groups: packed[step][group]. b points at its first element; kk rows of k,
// columns <= NG * Mode::kColumns; what lies outside is zero.
template <class Mode, int NG>
void pack_panel(const typename Mode::Source* b, int64_t b_row, int64_t b_column, int64_t kk,
                int64_t columns, typename Mode::Source* packed) {
  constexpr int64_t kStepElements = NG * Mode::kPackedGroup;
  const int64_t steps = steps_of<Mode>(kk);
  if constexpr (Mode::kTransposes) {
    if (b_row == 1 && b_column != 1) {
      pack_along_k<Mode, NG>(b, b_column, kk, columns, packed);
      return;
    }
  }
  if (b_column != 1) {
    pack_across<Mode, NG>(b, b_row, b_column, kk, columns, packed);
    return;
  }
  for (int64_t s = 0; s < steps; ++s) {
    const int64_t rows = std::min<int64_t>(Mode::kStep, kk - s * Mode::kStep);
    const typename Mode::Source* row = b + s * Mode::kStep * b_row;
    for (int64_t g = 0; g < NG; ++g) {
      const int64_t column = g * Mode::kColumns;
      const int64_t left = std::clamp<int64_t>(columns - column, 0, Mode::kColumns);
      typename Mode::Source* out = packed + s * kStepElements + g * Mode::kPackedGroup;
      if (left == Mode::kColumns && rows == Mode::kStep) {
        typename Mode::Operand operand[Mode::kGroup];
        Mode::load_rows(row + column, b_row, operand);
        Mode::store_packed(out, operand);
      } else {
        pack_edge<Mode>(row + column, b_row, rows, left, out);
      }
    }
  }
}

// Whether sums are outputs as they stand, in their order: whole tiles need no finish_tile().
template <class Mode>
bool stores_sums(const GemmCall& call) {
  return Mode::kGroup == 1 && Mode::kOffset == 0 && call.beta == 0 && call.step_count == 0 &&
         call.d_column == 1 && alpha_of<typename Mode::Sum>(call) == 1 &&
         element_bytes(call.out) == int64_t{sizeof(typename Mode::Sum)};
}

// out = alpha * (sums + offsets) + beta * c for one tile, and the steps behind it. sums: [rows][NG
// groups] in the mode's order; offsets: find_offsets' of these rows.
template <class Mode, int NG>
void finish_tile(const GemmCall& call, int64_t batch, int64_t row0, int64_t rows, int64_t column0,
                 int64_t columns, const typename Mode::Sum* sums,
                 const typename Mode::Sum* offsets) {
  using Sum = typename Mode::Sum;
  constexpr int kWidth = NG * Mode::kColumns;
  constexpr int kLanes = Mode::kLanes;
  const int64_t bytes = element_bytes(call.out);
  const bool narrow = bytes == 2;
  const bool reads_c = call.beta != 0;
  const auto alpha = Mode::splat(alpha_of<Sum>(call)), beta = Mode::splat(beta_of<Sum>(call));
  alignas(64) Sum gathered[kWidth];
  alignas(64) uint16_t halves[kWidth];
  constexpr bool kHasSteps = std::is_same_v<Sum, float>;
  alignas(64) [[maybe_unused]] Sum line[(kWidth + 15) / 16 * 16];
  for (int64_t r = 0; r < rows; ++r) {
    typename Mode::Accumulator v[NG * Mode::kGroup];
#pragma GCC unroll 16
    for (int i = 0; i < NG * Mode::kGroup; ++i) {
      v[i] = Mode::load(sums + r * kWidth + i * kLanes);
      if constexpr (Mode::kOffset != 0) v[i] = Mode::add(v[i], Mode::splat(offsets[r]));
    }
#pragma GCC unroll 16
    for (int g = 0; g < NG; ++g) Mode::linear(v + g * Mode::kGroup);
    auto* out = static_cast<std::byte*>(call.d) +
                (batch * call.d_batch + (row0 + r) * call.d_row + column0 * call.d_column) * bytes;
    const bool direct = columns == kWidth && call.d_column == 1;
    if (reads_c) {
      const int64_t from = batch * call.c_batch + (row0 + r) * call.c_row + column0 * call.c_column;
      for (int64_t j = 0; j < std::min<int64_t>(columns, kWidth); ++j)
        gathered[j] = read_element<Sum>(call.out, call.c, from + j * call.c_column);
    }
#pragma GCC unroll 16
    for (int i = 0; i < NG * Mode::kGroup; ++i) {
      v[i] = Mode::multiply(alpha, v[i]);
      if (reads_c) v[i] = Mode::multiply_add(beta, Mode::load(gathered + i * kLanes), v[i]);
      if constexpr (kHasSteps) {
        if (call.step_count > 0) Mode::store(line + i * kLanes, v[i]);
      }
    }
    if constexpr (kHasSteps) {
      if (call.step_count > 0) {
        Steps<Mode>::run(call, batch, row0 + r, column0, columns, line);
#pragma GCC unroll 16
        for (int i = 0; i < NG * Mode::kGroup; ++i) v[i] = Mode::load(line + i * kLanes);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < NG * Mode::kGroup; ++i) {
      if constexpr (requires { Mode::store_narrow(halves, v[i]); }) {
        if (narrow) {
          Mode::store_narrow((direct ? reinterpret_cast<uint16_t*>(out) : halves) + i * kLanes,
                             v[i]);
          continue;
        }
      }
      Mode::store((direct ? reinterpret_cast<Sum*>(out) : gathered) + i * kLanes, v[i]);
    }
    if (direct) continue;
    const auto* written = narrow ? reinterpret_cast<const std::byte*>(halves)
                                 : reinterpret_cast<const std::byte*>(gathered);
    if (call.d_column == 1) {
      std::memcpy(out, written, static_cast<size_t>(columns * bytes));
    } else {
      for (int64_t j = 0; j < columns; ++j)
        std::memcpy(out + j * call.d_column * bytes, written + j * bytes,
                    static_cast<size_t>(bytes));
    }
  }
}

}  // namespace assay::native_cpu
