#pragma once

// Problems that tell right kernels from wrong ones: sizes that are multiples of nothing, single
// rows and columns, all layouts, gaps between rows, batches, scalars, each useful dtype.

#include <vector>

#include "assay/base/result.h"
#include "assay/op/problem.h"

namespace assay::gemm {

Result<std::vector<Problem>> telling_problems();

}  // namespace assay::gemm
