#pragma once

// race --target and kernels --compile: what device code becomes for a GPU that is not here.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/sweep/sweep.h"
#include "cli/command.h"

namespace assay::cli {

// Compiles every kernel of the files, and of the providers, that can take the request's problems,
// and shows registers, spills and shared memory. Nothing runs. Ends with kRefuted where one does
// not compile, and with kNothingRan where there is none. Errors: invalid_input for code that runs
// on cores.
Result<int> compile_only(Context& context, const sweep::Request& request,
                         std::span<const input::KernelSource> files, const std::string& target,
                         const std::vector<process::AskedProvider>& providers = {});

}  // namespace assay::cli
