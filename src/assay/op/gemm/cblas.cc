#include "assay/op/gemm/cblas.h"

#include <limits>

namespace assay::gemm::cblas {

std::optional<int> leading(const Matrix& matrix, bool by_rows) {
  const auto leading = matrix.leading(by_rows);
  if (!leading || *leading > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*leading);
}

std::optional<Layout> layout_of(const View& view) {
  Layout layout;
  const Matrix out = matrix_out(view);
  const bool by_rows = leading(out, true).has_value();
  layout.order = by_rows ? Order::row_major : Order::column_major;
  const auto place = [&](const Matrix& matrix, Transpose& transpose, int& lead) {
    const auto plain = leading(matrix, by_rows);
    transpose = plain ? Transpose::no : Transpose::yes;
    lead = plain ? *plain : leading(matrix, !by_rows).value_or(0);
    return lead != 0;
  };
  Transpose none = Transpose::no;
  if (!place(out, none, layout.ldout) || none == Transpose::yes ||
      !place(matrix_a(view), layout.transpose_a, layout.lda) ||
      !place(matrix_b(view), layout.transpose_b, layout.ldb))
    return std::nullopt;
  return layout;
}

}  // namespace assay::gemm::cblas
