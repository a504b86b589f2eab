#pragma once

// A kernel that failed beside users' kernels need not be the one that failed: it is proven and
// timed once more with nothing but stock kernels beside it, and if it is right there, who makes it
// fail is looked for, one by one.

#include <string>
#include <vector>

#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// Of the candidates `company`, which were timed in one company for so many rounds, those that are
// no longer alive: who stands gets its place back, and whoever makes it fail ends with a violation
// (`spoils_others`). Gives findings: `failed_in_company` where a stock kernel failed and nobody is
// found.
Result<std::vector<Finding>> ask_again(const Station& station, Field& field,
                                       const std::vector<size_t>& company, int rounds);

}  // namespace assay::sweep
