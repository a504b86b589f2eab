#pragma once

// The families `gemm` (sgemm, dgemm, and sbgemm where it is exported) and `gemv` (sgemv, dgemv).

#include <memory>

#include "api.h"
#include "assay/kernel/library_family.h"
#include "assay/op/gemm/matrix.h"

namespace assay::openblas {

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api);

// For a few rows of a or columns of b, one after another: OpenBLAS's gemm takes up to four times as
// long there.
std::shared_ptr<const Family> make_gemv_family(std::shared_ptr<const Api> api);

// A routine for these types that takes alpha, beta and c; bind is for the caller to add.
Routine routine_of(const char* name, DType in, DType out,
                   void (*check)(const gemm::View& view, Refusals& refusals));

void check_matrix(const gemm::Matrix& matrix, const char* role, Refusals& refusals);

}  // namespace assay::openblas
