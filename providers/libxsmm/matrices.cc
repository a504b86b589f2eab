#include "gemm.h"

namespace assay::libxsmm {
namespace {

// Code addresses up to 512 lines ahead by 32-bit displacements, in bytes of at most 8 an element.
constexpr int64_t kMostLeading = (int64_t{1} << 31) / (512 * 8) - 1;

}  // namespace

Matrices matrices_of(const gemm::View& view) {
  const gemm::Matrix a = matrix_a(view), b = matrix_b(view), out = matrix_out(view);
  if (out.leading(true)) return {a, b, out, false};
  return {b.transposed(), a.transposed(), out.transposed(), true};
}

ProblemRule rule_of(DType in, DType out, bool prepared) {
  ProblemRule rule;
  rule.operands = {{.role = "a", .dtypes = {in}},
                   {.role = "b", .dtypes = {in}, .prepared = prepared},
                   {.role = "out", .dtypes = {out}}};
  rule.accumulate = {out};
  rule.targets = {Target{.arch = "x86_64", .features = {}}};
  return rule;
}

void check_matrix(const gemm::Matrix& matrix, const char* role, bool columns_will_do,
                  Refusals& refusals) {
  const auto leading = matrix.leading(true) ? matrix.leading(true)
                       : columns_will_do    ? matrix.leading(false)
                                            : std::nullopt;
  if (!leading)
    refusals.add(Reason::stride,
                 fmt::format("operand {} has strides {} and {}: libxsmm's code takes it with {} "
                             "contiguous",
                             role, matrix.row_stride, matrix.column_stride,
                             columns_will_do ? "rows or columns" : "the other dimension"));
  else if (*leading > kMostLeading)
    refusals.add(Reason::stride, fmt::format("operand {} has a leading dimension of {}: libxsmm's "
                                             "code reaches {}",
                                             role, *leading, kMostLeading));
}

}  // namespace assay::libxsmm
