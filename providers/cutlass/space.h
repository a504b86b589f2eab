#pragma once

// The table of configurations that a user's settings name.

#include "settings.h"
#include "table.h"

namespace assay::cutlass {

// The default level's, and those of Ampere, which are in the program.
const Table& default_table();
const Table& sm80_table();

// All that the generator makes: read from the cache, or made there by the package's generator (5
// seconds). ErrorCode::unsupported where there is no package, Python or cache.
Result<Table> whole_table(const Settings& settings);

}  // namespace assay::cutlass
