#pragma once

// The table of configurations that a user's settings name.

#include "generation.h"
#include "settings.h"
#include "table.h"

namespace assay::cutlass {

// The one that is in the program: of several levels, the default's.
const Table& table_of(const Generation& generation);

// All that the generator makes: read from the cache, or made there by the package's generator (5
// seconds). ErrorCode::unsupported where there is no package, Python or cache.
Result<Table> whole_table(const Settings& settings);

}  // namespace assay::cutlass
