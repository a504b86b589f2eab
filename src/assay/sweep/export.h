#pragma once

// A kernel that a record names, as source.

#include <string>

#include "assay/base/result.h"
#include "assay/kernel/export.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

// The kernel with this id as source that runs the problem without assay, made in a worker. Errors:
// missing where nobody offers it here, with what was said instead; unsupported where it cannot
// leave; its family's own.
Result<KernelExport> export_kernel(const Request& request, const Problem& problem,
                                   const std::string& id);

}  // namespace assay::sweep
