#pragma once

// A plug-in as a family: the rows of all its kernels, told apart by the attribute `kernel`.

#include <memory>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::plugin {

// Loads and runs the plug-in's entry point. Errors as load(); expressions that cannot be parsed.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry);

}  // namespace assay::plugin
