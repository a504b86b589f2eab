#pragma once

// A stock kernel made slower by a known share: what a race must be able to see.

#include <memory>
#include <span>
#include <string>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::bench {

// sgemm of the OpenBLAS at `library`, once for each of 2 and 5 per cent (attribute `slowdown`):
// each launch is followed by spinning until that much more than its own time has passed.
Result<std::shared_ptr<const Family>> make_slowed_family(
    std::span<const std::unique_ptr<Provider>> providers, const std::string& library);

}  // namespace assay::bench
