#pragma once

#include <memory>

#include "assay/kernel/family.h"

namespace assay::reference {

// One row, "float64": the sum, the root and the products in float64, one rounding at the end.
std::shared_ptr<const Family> make_rmsnorm_family();

}  // namespace assay::reference
