#pragma once

// A kernel as it leaves: the sources that this provider itself is compiled from, which travel in
// the binary, and a call with a problem's numbers.

#include "assay/kernel/export.h"
#include "kernels.h"

namespace assay::native_cpu {

// Where the operands of a step's data stand.
struct Places {
  size_t a = 0, b = 0, c = 0, out = 0, workspace = 0, prepared = 0;
  bool has_c = false;
};

// `call` without pointers; `needed`: what the processor must have.
Result<KernelExport> export_source(const GemmCall& call, const Tiling& tiling, const Places& places,
                                   const Target& needed);

}  // namespace assay::native_cpu
