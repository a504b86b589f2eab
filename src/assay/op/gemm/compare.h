#pragma once

// The comparison of one output with what an instance expects. Not for use outside op/gemm.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/op/gemm/mapping.h"

namespace assay::gemm {

// c: the instance's own bytes, empty where there is none. Inputs as they were made, not varied
// (varied_check.h).
Check compare(const Base& base, const Mapping& mapping, std::span<const std::byte> c,
              std::span<const std::byte> output);

}  // namespace assay::gemm
