#pragma once

#include <memory>
#include <vector>

#include "assay/kernel/family.h"
#include "settings.h"
#include "table.h"

namespace assay::cutlass {

// One of each generation: every configuration of its table, for either order of out.
Result<std::vector<std::shared_ptr<const Family>>> make_gemm_families(const Settings& settings);

}  // namespace assay::cutlass
