#pragma once

#include "assay/lab/evaluate/measure.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

// Whether the candidate still says what the reference says, where a benchmark or the target asks
// for that. False: the attempt is concluded.
Result<bool> check_parity(const StageContext& stage, const ProgramRunner& runner, const Side& side);

}  // namespace assay::lab
