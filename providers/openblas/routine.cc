#include "assay/op/gemm/cblas.h"
#include "gemm.h"

namespace assay::openblas {

Routine routine_of(const char* name, DType in, DType out,
                   void (*check)(const gemm::View& view, Refusals& refusals)) {
  ProblemRule rule;
  rule.operands = {{.role = "a", .dtypes = {in}},
                   {.role = "b", .dtypes = {in}},
                   {.role = "c", .dtypes = {out}},
                   {.role = "out", .dtypes = {out}}};
  rule.accumulate = {out};
  rule.scalars = true;
  Routine routine{.name = name, .rules = {std::move(rule)}};
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
  if (gemm::cblas::is_expressible(matrix)) return;
  refusals.add(Reason::stride,
               fmt::format("operand {} has strides {} and {}: OpenBLAS wants one of them to be 1 "
                           "and the other to be a leading dimension of at most 2^31-1",
                           role, matrix.row_stride, matrix.column_stride));
}

}  // namespace assay::openblas
