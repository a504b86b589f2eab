#pragma once

// Whether each kernel of a case's manifests can be compiled here, and by what.

#include <string>
#include <vector>

#include "cli/lab/lab_place.h"

namespace assay::cli {

struct BuiltKernel {
  const char* word = "ok";  // "ok"; "warn" where a compiler or package is missing; "fail".
  std::string name, text;   // The kernel; what became of it.
};

// Compiles the kernels of all `sweep` benchmarks, those for a GPU without one, into the cache.
Result<std::vector<BuiltKernel>> build_kernels(const Context& context, const LabPlace& place);

// Compilers of users' sources and libraries to race against, as `assay providers` finds them.
Result<std::vector<BuiltKernel>> look_for_tools(const Context& context);

}  // namespace assay::cli
