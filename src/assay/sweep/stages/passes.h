#pragma once

// Confirms several problems in passes: each problem is visited once, in a process that has not seen
// it, and only then the next pass begins with fresh processes. The processes of one problem are as
// far apart in time as the others take, so that what the machine does for seconds at a time shows
// in their spread. Within a pass several visits are set up side by side, and timed one by one.

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
