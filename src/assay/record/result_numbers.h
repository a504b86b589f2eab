#pragma once

// Whether the numbers of one result of another tool agree with one another.

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/provider_results.h"

namespace assay {

// tflops, gflops, gbps and runtime_ms, the sizes, and those that the result's name tells. A
// contradiction is invalid_input at `field`, with both numbers: a unit or a size is mistaken.
Status check_numbers(const JsonField& field, const ProviderResult& result);

}  // namespace assay
