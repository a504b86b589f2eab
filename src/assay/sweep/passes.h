#pragma once

// Confirms several problems side by side: in each fresh process every problem is visited once, and
// only then the next process begins. The processes of one problem are as far apart in time as the
// others take, so that what the machine does for seconds at a time shows in their spread.

#include <vector>

#include "assay/sweep/run_problem.h"

namespace assay::sweep {

// Of timing.
struct PassBudget {
  double race_seconds = 0;     // For one problem that has to be raced again.
  double confirm_seconds = 0;  // For all, shared evenly; what one does not need, the rest have.
};

// Until each of them is to be finished.
Status confirm_in_passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer,
                         const PassBudget& budget);

}  // namespace assay::sweep
