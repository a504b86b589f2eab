#pragma once

#include <memory>

#include "assay/kernel/family.h"

namespace assay::toy {

// Two rows: the order of the loops over i, j (columns) and p (the sum).
std::shared_ptr<const Family> make_gemm_family();

}  // namespace assay::toy
