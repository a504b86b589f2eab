#pragma once

// Input values of a GEMM, and the comparison of outputs with the reference. Not for use outside
// op/gemm; everybody else goes through Operation::make_instance.

#include <memory>
#include <vector>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

std::vector<InputKind> useful_input_kinds(const View& view);

Result<std::unique_ptr<Instance>> make_gemm_instance(const Problem& problem, InputKind kind,
                                                     uint64_t seed);

}  // namespace assay::gemm
