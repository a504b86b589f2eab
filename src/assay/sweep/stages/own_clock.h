#pragma once

// Blocks of one kernel alone, where a power cap makes kernels that take turns share one clock.

#include <optional>
#include <string>

#include "assay/record/own_clock.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// Whether the GPU was held back so that its clock depends on who runs.
bool is_capped(const GpuWindow& window);

// Who runs: the headline's two; where there is no stock kernel, the leader and one it was confirmed
// with. Null: nobody.
const PairVerdict* pair_at_own_clock(const ProblemRecord& problem);

// Blocks of two seconds, candidate, other, other, candidate, each behind itself and with the energy
// that the GPU took. Nothing where a kernel did not get through: then it has ended. Indices into
// the field.
Result<std::optional<OwnClock>> race_at_own_clock(const Station& station, Field& field,
                                                  size_t candidate, size_t other);

// What it says beside the verdict of the same two kernels.
std::optional<Finding> finding_of(const OwnClock& clock, const ProblemRecord& problem);

}  // namespace assay::sweep
