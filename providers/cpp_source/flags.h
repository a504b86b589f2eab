#pragma once

#include <string_view>

#include "assay/base/result.h"

namespace assay::cpp_source {

// Whether a file may hand that flag to GCC or Clang (src/assay/kernel/compiler_flags.h).
Status check_flag(std::string_view flag);

}  // namespace assay::cpp_source
