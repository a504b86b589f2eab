#pragma once

// What the processor counts while kernels run.

#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// Of the finalists, after every claim was timed. Finalists that
// are not in the answer did not survive being counted.
Result<std::map<std::string, EventCounts>> count_events(const Station& station, Field& field,
                                                        const std::vector<std::string>& finalists);

}  // namespace assay::sweep
