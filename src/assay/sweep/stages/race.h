#pragma once

// Rounds of all kernels against one another.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// It spends, and claims nothing.
struct RaceResult {
  RaceRecord record;
  std::vector<std::string> finalists;  // Ids; leader first.
  std::string leader, candidate, baseline;
  double spread = 0;         // Of one round's log ratio, which confirming has to beat.
  double round_ns = 0;       // One round of the finalists, switching included.
  double timed_seconds = 0;  // Of bursts and of what they need around them.
  std::string cold_doubt;    // Why operands may not have been cold, if there is doubt.
};
// It makes at least one round of all, and none that begins after its budget.
Result<RaceResult> race(const Station& station, Field& field, double budget_seconds);

}  // namespace assay::sweep
