#pragma once

#include "assay/op/first_kernel.h"

namespace assay::gemm {

Result<std::string> naive_kernel(const NewKernel& kernel, const Problem& problem);

}  // namespace assay::gemm
