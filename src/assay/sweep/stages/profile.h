#pragma once

// What ncu counts of the finalists' launches: each kernel in a process of its own that ncu starts,
// which binds it to cold operands and launches it a few times (worker/worker.h: profile_main).

#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// By the profiler of the request: last of all, with no other process of ours left on the GPU. What
// it cannot say is data, too.
Result<std::map<std::string, GpuProfile>> profile_kernels(
    const Station& station, const Field& field, const std::vector<std::string>& finalists);

}  // namespace assay::sweep
