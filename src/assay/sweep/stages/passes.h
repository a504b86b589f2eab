#pragma once

// Confirms several problems in passes: each problem is visited once, in a process that has not seen
// it, and only then the next pass begins with fresh processes. The processes of one problem are as
// far apart in time as the others take, so that what the machine does for seconds at a time shows
// in their spread. Within a pass several visits are set up side by side, and timed one by one.

#include <vector>

#include "assay/sweep/run_problem.h"

namespace assay::sweep {

// One confirmation of each. budget_seconds: of timing, for all, shared evenly; what one does not
// need, the rest have.
Status confirm_in_passes(std::vector<ProblemRun*> problems, Crew& crew, Observer& observer,
                         double budget_seconds);

}  // namespace assay::sweep
