#pragma once

// One output against what an instance expects of its own inputs; what decides is judge.h. Not for
// use outside op/gemm.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/op/gemm/mapping.h"

namespace assay::gemm {

// renewed_check.h has the inputs of timed launches.
Check compare(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
              std::span<const std::byte> output, ErrorBound bound);

}  // namespace assay::gemm
