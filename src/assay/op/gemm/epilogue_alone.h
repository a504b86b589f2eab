#pragma once

// An epilogue as a kernel of its own, on both devices: element_wise.h on a CPU, element_wise.cu on
// a GPU. Not for use outside op/gemm.

#include <memory>

#include "assay/op/last_part.h"
#include "assay/op/problem.h"

namespace assay::gemm {

// Of a problem whose out is f32, bf16 or f16. On a GPU out lies in rows, too, and the operands of
// the steps have such types.
Result<std::shared_ptr<const LastPart>> epilogue_alone(const Problem& problem);

}  // namespace assay::gemm
