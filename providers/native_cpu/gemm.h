#pragma once

// The families of this provider: one for each algorithm of gemm_call.h.

#include <memory>
#include <vector>

#include "assay/kernel/family.h"

namespace assay::native_cpu {

std::vector<std::shared_ptr<const Family>> make_families();

}  // namespace assay::native_cpu
