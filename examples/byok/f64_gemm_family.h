#pragma once

// The interface: what assay asks of a family, answered for f64_gemm_kernel.h.

#include <memory>

#include "assay/kernel/family.h"

namespace byok {

// Sixteen kernels, F64GemmKernel_tile32x32_ttt to F64GemmKernel_tile16x16_nnn: two tiles, and rows
// (t) or columns (n) contiguous in each of a, b and out.
std::shared_ptr<const assay::Family> make_f64_gemm_family();

}  // namespace byok
