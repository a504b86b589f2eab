#include "matrices.h"

#include <algorithm>
#include <utility>

namespace assay::onednn {

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
  (by_rows ? same.row_stride : same.column_stride) = leading(by_rows).value_or(1);
  (by_rows ? same.column_stride : same.row_stride) = 1;
  return same;
}

Matrices matrices_of(const gemm::View& view) {
  const Matrix a{view.l, view.m, view.k, view.a_l, view.a_m, view.a_k, view.a};
  const Matrix b{view.l, view.k, view.n, view.b_l, view.b_k, view.b_n, view.b};
  const Matrix out{view.l, view.m, view.n, view.out_l, view.out_m, view.out_n, view.out};
  if (out.leading(true)) return {a, b, out, false};
  return {b.transposed(), a.transposed(), out.transposed(), true};
}

void check_strides(const Matrices& matrices, Refusals& refusals) {
  const auto check = [&](const Matrix& matrix, const char* role) {
    if (matrix.leading(true) || matrix.leading(false)) return;
    refusals.add(Reason::stride, fmt::format("operand {} has strides {} and {}: oneDNN's matmul is "
                                             "made for rows or columns that lie contiguous",
                                             role, matrix.row_stride, matrix.column_stride));
  };
  check(matrices.a, matrices.swapped ? "b" : "a");
  check(matrices.b, matrices.swapped ? "a" : "b");
  check(matrices.out, "out");
}

}  // namespace assay::onednn
