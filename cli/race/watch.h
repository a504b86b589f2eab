#pragma once

// `assay race --watch`: every save is raced against the version before and the best stock kernels.

#include <string>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

// Until the user stops it, which is its normal end: exit 0. `request` is complete but for kernels
// and folder.
Result<int> watch_file(Context& context, const sweep::Request& request,
                       const std::string& file_and_entry);

}  // namespace assay::cli
