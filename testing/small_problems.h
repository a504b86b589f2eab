#pragma once

#include <vector>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm::testing {

// Each small enough for the naive kernels and awkward somewhere.
std::vector<Problem> small_problems();

}  // namespace assay::gemm::testing
