#pragma once

// Errors in the mean, which no single element shows.

#include "assay/sweep/stages/station.h"

namespace assay::sweep {

// Once everybody was looked at, ends those whose errors are not what they declare
// (record/coarse.h).
void judge_mean_errors(const Station& station, Field& field);

}  // namespace assay::sweep
