#pragma once

// What a lab's attempt says of itself, made again from its pairs.

#include <vector>

#include "assay/compare/recompute.h"
#include "assay/record/attempt.h"

namespace assay {

// Empty where the record says what its pairs say: the decision, its ratio and interval, each
// guardrail. An attempt that ended before it was measured has nothing to be made again. Builds,
// tests, parity and what was held out are what the attempt saw.
std::vector<Difference> recompute(const AttemptRecord& record);

}  // namespace assay
