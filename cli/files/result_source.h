#pragma once

// Results wherever they lie: in a run, in a provider's file, in a report of cutlass_profiler.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay::cli {

// `source`: a run's folder, a record (.json, .json.zst), <provider>_results.json, or a report
// (.csv). Of a run, the best kernel of each provider on every problem; its results name the record
// as seen from `folder`, where they will lie. Errors are the readers'; ErrorCode::missing for a
// folder without a record. Not empty.
Result<std::vector<ProviderResults>> load_results(const std::string& source,
                                                  const std::filesystem::path& folder);

}  // namespace assay::cli
