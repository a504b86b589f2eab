#pragma once

// A configuration becomes a shared object in the cache.

#include "assay/kernel/family.h"
#include "shelf.h"

namespace assay::cutlass {

// What one call of nvcc takes; measured 3.1 to 3.4 GB, CUDA 13.0.
inline constexpr int64_t kCompilerBytes = 3'500'000'000;

// Of ptxas's words and the object itself.
struct Resources {
  int64_t registers = 0, spill_store_bytes = 0, spill_load_bytes = 0, stack_bytes = 0;
  bool serialised = false;  // "wgmma.mma_async instructions are serialized".
};
Resources resources_of(std::string_view compiler_output);

// Why such a kernel is not worth its time: it keeps sums in memory between instructions, or waits
// for each of them. Empty: no reason.
std::string objection(const Json& facts);

// The artifact, from the cache or compiled. As many compilers run at once on this machine as its
// free memory holds. Errors: build_failed with nvcc's first lines, or where it took too long; the
// cache's.
Result<Artifact> compile(const Configuration& configuration, const Toolchain& toolchain,
                         const Target& target, const CompileContext& context);

}  // namespace assay::cutlass
