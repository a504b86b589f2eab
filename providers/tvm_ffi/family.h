#pragma once

#include <memory>

#include "assay/kernel/provider.h"

namespace assay::tvm_ffi {

// Reads the file and runs nothing of it. Errors (prefixed by entry.origin): no shared object, no
// such entry point in it, fields that mean nothing here.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry,
                                                  const ProviderSettings& settings);

}  // namespace assay::tvm_ffi
