#pragma once

// The families `gemm` (sgemm, dgemm, and sbgemm where it is exported) and `gemv` (sgemv, dgemv).

#include <memory>
#include <vector>

#include "api.h"
#include "assay/kernel/family.h"

namespace assay::openblas {

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api);

// For a few rows of a or columns of b, one after another: OpenBLAS's gemm takes up to four times as
// long there.
std::shared_ptr<const Family> make_gemv_family(std::shared_ptr<const Api> api);

}  // namespace assay::openblas
