#pragma once

// The family `gemm`, for f32 and f64.

#include <memory>

#include "api.h"
#include "assay/kernel/library_family.h"
#include "assay/op/gemm/matrix.h"

namespace assay::blis {

// sgemm: cblas_sgemm, or bli_sgemm where only that can say an operand's strides.
// sgemm_typed: bli_sgemm for one row of a or column of b, where CBLAS makes it a gemv.
// sgemm_packed: the conventional algorithm also where BLIS has one for small problems.
std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api);

// A routine of one type that takes alpha, beta and c; bind is for the caller to add.
Routine routine_of(std::string name, DType dtype,
                   void (*check)(const gemm::View& view, Refusals& refusals));

// A sentence unless BLIS takes the strides: one is 1, or the larger one steps over a whole line of
// the smaller (bli_check_matrix_strides, which ends the process).
void check_matrix(const gemm::Matrix& matrix, const char* role, Refusals& refusals);

}  // namespace assay::blis
