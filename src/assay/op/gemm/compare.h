#pragma once

// The comparison of one output with what an instance expects. Not for use outside op/gemm.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/op/gemm/mapping.h"

namespace assay::gemm {

// Of the instance's own inputs; renewed_check.h has the others.
Check compare(const Base& base, const Mapping& mapping, const OwnInputs& inputs,
              std::span<const std::byte> output, ErrorBound bound);

}  // namespace assay::gemm
