#pragma once

// What each provider has on this machine, as `assay providers` and `assay doctor` show it.

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/report/table.h"
#include "assay/sweep/sweep.h"

namespace assay::cli {

Json providers_json(const std::vector<sweep::ProviderReport>& providers);
Json rankers_json(const std::vector<sweep::RankerReport>& rankers);
std::string rankers_text(const std::vector<sweep::RankerReport>& rankers,
                         const report::TextStyle& style);
// A table; what is missing with the reason and what to install.
std::string providers_text(const std::vector<sweep::ProviderReport>& providers,
                           const report::TextStyle& style);

}  // namespace assay::cli
