#pragma once

#include "assay/record/record.h"

namespace assay {

// Adds a problem's kernels and refusals; no seconds.
void count(Totals& totals, const ProblemRecord& problem);

}  // namespace assay
