#pragma once

#include <memory>

#include "assay/kernel/family.h"
#include "settings.h"
#include "table.h"

namespace assay::cutlass {

// One family: every configuration of the table, for either order of out.
Result<std::shared_ptr<const Family>> make_gemm_family(const Settings& settings);

}  // namespace assay::cutlass
