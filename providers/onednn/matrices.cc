#include "matrices.h"

namespace assay::onednn {

Matrices matrices_of(const gemm::View& view) {
  const gemm::Matrix a = matrix_a(view), b = matrix_b(view), out = matrix_out(view);
  if (out.leading(true)) return {a, b, out, false};
  return {b.transposed(), a.transposed(), out.transposed(), true};
}

void check_strides(const Matrices& matrices, Refusals& refusals) {
  const auto check = [&](const gemm::Matrix& matrix, const char* role) {
    if (matrix.has_leading()) return;
    refusals.add(Reason::stride, fmt::format("operand {} has strides {} and {}: oneDNN's matmul is "
                                             "made for rows or columns that lie contiguous",
                                             role, matrix.row_stride, matrix.column_stride));
  };
  check(matrices.a, matrices.swapped ? "b" : "a");
  check(matrices.b, matrices.swapped ? "a" : "b");
  check(matrices.out, "out");
}

}  // namespace assay::onednn
