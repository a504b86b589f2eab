#pragma once

// A kernel as it leaves: the sources that this provider itself is compiled from, which travel in
// the binary, and a call with a problem's numbers.

#include <cstddef>
#include <span>

#include "assay/kernel/export.h"
#include "assay/op/gemm/matrix.h"
#include "kernels.h"

namespace assay::native_cpu {

// `call` and `steps` without pointers, and where the steps' operands stand in a step's data;
// `needed`: what the processor must have.
Result<KernelExport> export_source(const GemmCall& call, std::span<const EpilogueStep> steps,
                                   std::span<const size_t> step_places, const Tiling& tiling,
                                   const gemm::Places& places, const Target& needed);

}  // namespace assay::native_cpu
