#pragma once

#include <string_view>

#include "assay/base/result.h"

namespace assay::cuda_source {

// Whether a file may hand that flag to NVRTC (src/assay/kernel/compiler_flags.h).
Status check_flag(std::string_view flag);

}  // namespace assay::cuda_source
