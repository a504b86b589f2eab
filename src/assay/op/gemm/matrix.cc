#include "assay/op/gemm/matrix.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::gemm {
namespace {

// Elements of a line lie together in `to`, lines anywhere.
template <size_t kBytes>
void copy_lines(const std::byte* from, std::byte* to, int64_t lines, int64_t length,
                int64_t from_line, int64_t from_element, int64_t to_line, int64_t to_element) {
  constexpr auto kStep = static_cast<int64_t>(kBytes);
  for (int64_t line = 0; line < lines; ++line) {
    const std::byte* const source = from + line * from_line * kStep;
    std::byte* const target = to + line * to_line * kStep;
    if (from_element == 1 && to_element == 1) {
      std::memcpy(target, source, static_cast<size_t>(length) * kBytes);
      continue;
    }
    for (int64_t i = 0; i < length; ++i)
      std::memcpy(target + i * to_element * kStep, source + i * from_element * kStep, kBytes);
  }
}

}  // namespace

std::optional<int64_t> Matrix::leading(bool by_rows) const {
  const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const int64_t apart = by_rows ? row_stride : column_stride;
  const int64_t inside = by_rows ? column_stride : row_stride;
  if (length > 1 && inside != 1) return std::nullopt;
  const int64_t leading = lines > 1 ? apart : std::max<int64_t>(length, 1);
  return leading < length ? std::nullopt : std::optional(leading);
}

Matrix Matrix::transposed() const {
  Matrix other = *this;
  std::swap(other.rows, other.columns);
  std::swap(other.row_stride, other.column_stride);
  return other;
}

Matrix Matrix::plain() const {
  Matrix same = *this;
  const bool by_rows = leading(true).has_value();
  const auto apart = leading(by_rows);
  if (!apart) return same;
  (by_rows ? same.row_stride : same.column_stride) = *apart;
  (by_rows ? same.column_stride : same.row_stride) = 1;
  return same;
}

Matrix matrix_a(const View& v) { return {nullptr, v.a, v.l, v.m, v.k, v.a_l, v.a_m, v.a_k}; }
Matrix matrix_b(const View& v) { return {nullptr, v.b, v.l, v.k, v.n, v.b_l, v.b_k, v.b_n}; }
Matrix matrix_c(const View& v) { return {nullptr, v.out, v.l, v.m, v.n, v.c_l, v.c_m, v.c_n}; }
Matrix matrix_out(const View& v) {
  return {nullptr, v.out, v.l, v.m, v.out_columns, v.out_l, v.out_m, v.out_n};
}

Matrix matrix_of(const Operand& operand) {
  return {nullptr,          operand.dtype,      operand.sizes[0],   operand.sizes[1],
          operand.sizes[2], operand.strides[0], operand.strides[1], operand.strides[2]};
}

Places places_of(const Problem& problem) {
  Places places;
  const auto operands = problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == "a") places.a = i;
    if (operands[i].role == "b") places.b = i;
    if (operands[i].role == "out") places.out = i;
    if (operands[i].role == "c") {
      places.c = i;
      places.has_c = true;
    }
  }
  places.workspace = operands.size();
  places.prepared = places.workspace + 1;
  return places;
}

void copy_c(const View& v, const void* c, void* out, int64_t batch) {
  const int64_t bytes = size_bytes(v.out);
  const auto* from = static_cast<const std::byte*>(c) + batch * v.c_l * bytes;
  auto* to = static_cast<std::byte*>(out) + batch * v.out_l * bytes;
  const auto copy = [&]<size_t kBytes>() {
    if (v.out_n <= v.out_m)
      copy_lines<kBytes>(from, to, v.m, v.n, v.c_m, v.c_n, v.out_m, v.out_n);
    else
      copy_lines<kBytes>(from, to, v.n, v.m, v.c_n, v.c_m, v.out_n, v.out_m);
  };
  switch (bytes) {
    case 1:
      return copy.template operator()<1>();
    case 2:
      return copy.template operator()<2>();
    case 4:
      return copy.template operator()<4>();
    default:
      return copy.template operator()<8>();
  }
}

}  // namespace assay::gemm
