#pragma once

#include <memory>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::ptx {

// Reads the source once, to say early which function is missing. Errors: of the file, and
// invalid_input, prefixed by entry.origin.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry);

}  // namespace assay::ptx
