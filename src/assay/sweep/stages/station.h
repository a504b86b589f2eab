#pragma once

// What the stages of one problem share.

#include <cstddef>
#include <string>

#include "assay/sweep/crew.h"
#include "assay/sweep/journal.h"
#include "assay/sweep/stages/candidate.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

struct Station {
  const Request& request;
  Crew& crew;
  Journal& journal;
  Observer& observer;
  const Problem& problem;
  measure::Condition condition;
  // Limits, filters and handlers that a user's native code set up would meet whatever runs after it
  // in its process; code on a GPU cannot.
  bool taints_process(const Candidate& candidate) const {
    return candidate.outcome.role == KernelRole::user && crew.has_native_guests();
  }
  // Whose process a candidate is timed in: empty, stock kernels' and ours, or one of its own, which
  // rows of one family share. On a GPU all are in one: to take turns would cost them more than it
  // tells.
  std::string home_of(const Candidate& candidate) const;
  // Of the device's memory, what one process needs that times kernels; and so many of users may be
  // there at once, besides the stock kernels'. At least 1.
  double process_bytes(size_t kernels) const;
  size_t guests_at_once() const;
};

}  // namespace assay::sweep
