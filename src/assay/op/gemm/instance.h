#pragma once

// Input values of a GEMM, and the comparison of outputs with the reference. Not for use outside
// op/gemm; everybody else goes through Operation::make_instance.

#include <memory>
#include <vector>

#include "assay/op/gemm/gemm.h"

namespace assay::gemm {

std::vector<InputKind> useful_input_kinds(const View& view, ErrorBound bound);

// A fast matrix multiplication adds blocks up before it multiplies them: one NaN reaches others,
// and sums of integers that just fit their type do not. Those of integer types wrap around, and
// back.
bool leaves_out(const View& view, InputKind kind, ErrorBound bound);

Result<std::unique_ptr<Instance>> make_gemm_instance(const Problem& problem, InputKind kind,
                                                     uint64_t seed);

}  // namespace assay::gemm
