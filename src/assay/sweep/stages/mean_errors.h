#pragma once

// Errors in the mean, which no single element shows.

#include "assay/op/operation.h"
#include "assay/record/record.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// Adds what a check saw of errors in the mean; and, once everybody was looked at, ends those whose
// errors are not what they declare (record/coarse.h).
void add_mean_errors(ProofSummary& proof, const Check& check);
void judge_mean_errors(const Station& station, Field& field);

}  // namespace assay::sweep
