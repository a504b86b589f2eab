#pragma once

// One shape through the house, one direction.

#include <vector>

#include "assay/base/result.h"
#include "assay/record/record.h"
#include "assay/sweep/quarantine.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {

// window: the ceilings of the moment, which % of ceiling is of.
Result<ProblemRecord> run_problem(const Station& station, const Quarantine& quarantine,
                                  double budget_seconds, Totals& totals,
                                  std::vector<Ceiling>& window);

}  // namespace assay::sweep
