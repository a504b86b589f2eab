#pragma once

// Whether the numbers of one result of another tool agree with one another.

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay {

// Whether two rates follow from one another, in one unit. Both may be rounded to a few digits, so a
// contradiction is more than 5 % and half a step of three decimals: of a rate, and of a runtime,
// whose 0.001 ms may stand for 0.0005 to 0.0015.
bool rates_agree(double stated, double derived, double runtime_ms);

// tflops, gflops, gbps and runtime_ms, the sizes, and those that the result's name tells. A
// contradiction is invalid_input at `field`, with both numbers: a unit or a size is mistaken.
Status check_numbers(const JsonField& field, const ProviderResult& result);

}  // namespace assay
