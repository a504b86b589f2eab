#pragma once

// A compiled configuration as it is called.

#include <string>

#include "assay/base/dynamic_library.h"
#include "assay/kernel/family.h"
#include "configuration.h"
#include "kernel_abi.h"

namespace assay::cutlass {

struct MappedKernel {
  DynamicLibrary library;
  const assay_cutlass::Kernel* kernel = nullptr;

  // ErrorCode::build_failed for a file that is none, or of another version of the interface. What
  // the object holds runs while it is mapped: a worker may do that, and who compiles may not.
  static Result<MappedKernel> open(const std::string& file);
};

// What an object says of itself.
struct KernelFacts {
  int32_t stages = 0, threads = 0, shared_bytes = 0, accumulators = 0;
};
// Asked in a process of its own, which the object may end, crash or keep for `seconds`. Errors:
// build_failed with what it did; interrupted, once cancel_fd is readable.
Result<KernelFacts> ask_object(const std::string& file, double seconds, int cancel_fd);

// The problem as CUTLASS sees it, with D as its generation has it.
Result<assay_cutlass::Problem> problem_of(const Problem& problem, const KernelMetadata& row);

// Bytes that such a kernel may want, whatever the GPU. The object itself knows better, but is not
// compiled when this is asked.
size_t most_workspace_bytes(const Problem& problem, const KernelMetadata& row);

// Maps the artifact's file, and makes what launches need for these operands.
Result<StreamStep> bind_call(const KernelMetadata& row, const Binding& binding);

}  // namespace assay::cutlass
