#pragma once

#include "assay/op/first_kernel.h"

namespace assay::gemm {

const FirstKernel& first_kernel();

}  // namespace assay::gemm
