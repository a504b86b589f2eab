#pragma once

// Small problems that tell right kernels from wrong ones, and the one that stands for a large one.
// Not for use outside op/rmsnorm.

#include <vector>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

Result<std::vector<Problem>> telling_problems();
Result<Problem> fewer_outputs(const Problem& problem, double products);

}  // namespace assay::rmsnorm
