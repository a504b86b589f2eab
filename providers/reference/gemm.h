#pragma once

#include <memory>

#include "assay/kernel/family.h"

namespace assay::reference {

// One row, "float64": every product and sum in float64, one rounding at the end.
std::shared_ptr<const Family> make_gemm_family();

}  // namespace assay::reference
