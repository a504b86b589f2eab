#pragma once

// What was held out from whoever made the change: shapes that are drawn anew, or a command.

#include "assay/lab/evaluate/measure.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

// Only for what would be kept. The outcome becomes holdout_failed where the candidate is wrong on
// what was drawn, or slower than the incumbent beyond the tolerance. Neither shapes nor logs are
// left where an agent could read them.
Status hold_out(const StageContext& stage, RunnerOptions runner, const Side& candidate,
                const Side& incumbent);

}  // namespace assay::lab
