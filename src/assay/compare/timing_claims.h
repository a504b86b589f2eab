#pragma once

// What a record says of its race and of its confirmations' rounds, held against itself. Not for use
// outside this folder.

#include <vector>

#include "assay/compare/claimed.h"

namespace assay {

std::vector<Contradiction> find_timing_contradictions(const ProblemRecord& recorded);

}  // namespace assay
