#pragma once

#include "assay/op/first_kernel.h"

namespace assay::rmsnorm {

// Of a problem whose rows have no gaps between them.
Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem);

}  // namespace assay::rmsnorm
