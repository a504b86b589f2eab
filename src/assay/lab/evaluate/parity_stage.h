#pragma once

#include "assay/lab/evaluate/measure.h"
#include "assay/lab/evaluate/stage_context.h"

namespace assay::lab {

// Whether the candidate still says what the reference says, where a benchmark or the target asks
// for that. False: the attempt is concluded. The incumbent shows how far two runs of one tree
// differ where no baseline has.
Result<bool> check_parity(const StageContext& stage, const ProgramRunner& runner,
                          const Side& candidate, const Side& incumbent);

}  // namespace assay::lab
