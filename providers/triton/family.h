#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assay/kernel/family.h"
#include "assay/kernel/provider.h"

namespace assay::triton {

// A described @triton.jit function. Python is looked for when it is first needed: a kernel can be
// listed without it. `text`: the source, where it is no file but a part of this program.
Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry,
                                                  const ProviderSettings& settings,
                                                  std::string text = {});

// The baseline that is embedded: each of its kernels. A Triton older than a kernel's needs leaves
// that out.
Result<std::vector<std::shared_ptr<const Family>>> own_families(const ProviderSettings& settings);

}  // namespace assay::triton
