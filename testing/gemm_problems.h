#pragma once

// Problems that tell right kernels from wrong ones: sizes that are multiples of nothing, single
// rows and columns, all layouts, gaps between rows, batches, scalars, each useful dtype.

#include <vector>

#include "assay/op/problem.h"

namespace assay::testing {

// Each has a name of its own. Small: a float64 reference of all takes seconds.
std::vector<Problem> gemm_problems();

}  // namespace assay::testing
