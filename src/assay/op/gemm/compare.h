#pragma once

// The comparison of one output with what an instance expects. Not for use outside op/gemm.

#include <cstddef>
#include <span>
#include <vector>

#include "assay/op/gemm/mapping.h"

namespace assay::gemm {

// c: the instance's own bytes, empty where there is none. The instance's own inputs;
// renewed_check.h has the others.
Check compare(const Base& base, const Mapping& mapping, std::span<const std::byte> c,
              std::span<const std::byte> output);

}  // namespace assay::gemm
