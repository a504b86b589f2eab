#pragma once

// What a record says of its run as a whole, held against its problems. Not for use outside this
// folder.

#include <vector>

#include "assay/compare/claimed.h"

namespace assay {

// Its kind, its totals, and a trust grade that such kernels can have.
std::vector<Contradiction> find_run_contradictions(const RunRecord& record);

}  // namespace assay
