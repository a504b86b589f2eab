#include "gemm.h"

namespace assay::blis {

Routine routine_of(std::string name, DType dtype,
                   void (*check)(const gemm::View& view, Refusals& refusals)) {
  ProblemRule rule;
  for (const char* role : {"a", "b", "c", "out"})
    rule.operands.push_back({.role = role, .dtypes = {dtype}});
  rule.accumulate = {dtype};
  rule.scalars = true;
  Routine routine{.name = std::move(name), .rules = {std::move(rule)}};
  routine.check = [check](const KernelMetadata&, const Problem& problem, Refusals& refusals) {
    const auto view = gemm::view(problem);
    if (view)
      check(*view, refusals);
    else
      refusals.add(Reason::other, view.error().message);
  };
  return routine;
}

void check_matrix(const gemm::Matrix& matrix, const char* role, Refusals& refusals) {
  if (matrix.has_leading()) return;
  const int64_t row = matrix.row_stride, column = matrix.column_stride;
  const bool fits = row > 0 && column > 0 && row != column &&
                    (row < column ? matrix.rows * row <= column : matrix.columns * column <= row);
  if (fits) return;
  refusals.add(Reason::stride,
               fmt::format("operand {} has strides {} and {}: BLIS wants the larger one to step "
                           "over a whole line of the other",
                           role, row, column));
}

}  // namespace assay::blis
