#pragma once

// Nsight Compute's program, which counts what a GPU did in a launch.

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "cli/settings.h"

namespace assay::cli {

inline constexpr const char* kNoNcu = "none";

struct FoundNcu {
  std::string program;  // Empty: there is none,
  std::string missing;  // and this is why.
};

// `named` by --ncu, else by ASSAY_NCU: a file, a name along the PATH, or "none". Else ncu along the
// PATH, then where its packages put it below `root`: the newest. Errors: what was named is no
// program.
Result<FoundNcu> find_ncu(const std::string& named, const Settings& settings,
                          const std::string& root = "/");

}  // namespace assay::cli
