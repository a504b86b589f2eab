#pragma once

// What the stages of one problem share: the site where its kernels are timed, what the run was
// asked for, what it keeps and shows, and all of its processes.

#include "assay/sweep/crew.h"
#include "assay/sweep/journal.h"
#include "assay/sweep/sweep.h"
#include "assay/timing/candidate.h"
#include "assay/timing/site.h"

namespace assay::sweep {

struct Station : Site {
  // All but the condition must outlive it.
  Station(const Request& asked, Crew& all, Journal& kept, Observer& shown, const Problem& raced,
          const measure::Condition& under);

  const Request& request;
  Crew& crew;
  Journal& journal;
  Observer& observer;
};

// Whether a race is about this kernel: one of the user's, of the families asked about if any were.
bool is_raced_about(const Request& request, const Candidate& candidate);

// Whether the problem's verdict may be of this kernel: a sweep asks whether anything beats stock, a
// race whether the user's kernel does.
bool may_be_candidate(const Request& request, const Candidate& candidate);

}  // namespace assay::sweep
