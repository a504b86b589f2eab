#pragma once

// A user's C++ function as a family: its tunables span the rows.

#include <memory>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::cpp_source {

// Errors (invalid_input, prefixed by entry.origin): the source is missing, the entry is no name of
// a function, a tunable cannot be passed.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry);

}  // namespace assay::cpp_source
