#pragma once

// What a run is about, as its journal and its record write it.

#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/crew.h"
#include "assay/sweep/sweep.h"

namespace assay::sweep {

// What was asked, for the journal's header: resuming with anything else is refused. Not what the
// race chose to do.
Json asked_for(const Request& request, const Crew& crew);

Environment describe(const Request& request, const Crew& crew);

RunOptions options_of(const Request& request, const Crew& crew, double budget);

// Of the machine as it is at this moment, or as it was in the window of `kept` where it reached
// more.
Result<std::vector<Ceiling>> measure_ceilings(Crew& crew, const std::vector<Ceiling>& kept = {});

}  // namespace assay::sweep
