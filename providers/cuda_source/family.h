#pragma once

#include <memory>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::cuda_source {

// The compiler is looked for when it is first needed: a kernel can be described without it.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry,
                                                  const ProviderSettings& settings);

}  // namespace assay::cuda_source
