#pragma once

// What is unlike in runs of the CPU and of a GPU, as far as it is a number or a yes: one row of
// constants each. What is a step of its own asks the venue.

#include "assay/device/venue.h"
#include "assay/process/child.h"

namespace assay::sweep {

struct VenueRules {
  // Of processes that run candidates. A driver of GPUs does not start in namespaces of its own.
  ChildOptions::Guard guard = ChildOptions::Guard::confining;
  // What users brought is timed in processes of its own. On a GPU all kernels are in one: to take
  // turns would cost them more than it tells.
  bool times_users_apart = true;
  // Confirming processes get the code that ran in a process before them (Crew::learn_code).
  bool copies_code = true;
  // Confirming processes start while nothing is timed, and prove meanwhile: one takes seconds to
  // reach a GPU.
  bool confirmers_prove = false;
  // Processes of a confirmation, at most, if nobody says; 0: the fewest. What is between processes
  // of a CPU is not beaten by rounds: as many as the time allows. Those of a GPU differ by 0.1 to
  // 0.3 % (docs/method.md), and each takes half a second to begin.
  int most_processes = 0;
  // stats::JudgeOptions: of two kernels in one process, and of two in processes of their own.
  double systematic_error = 0, systematic_error_apart = 0;
};

const VenueRules& rules_of(const Venue& venue);

}  // namespace assay::sweep
