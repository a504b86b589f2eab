#pragma once

// The family "rmsnorm": two passes over each row, rows shared out among threads.

#include <memory>

#include "assay/kernel/family.h"

namespace assay::native_cpu {

std::shared_ptr<const Family> make_norm_family();

}  // namespace assay::native_cpu
