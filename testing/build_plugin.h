#pragma once

// Plug-ins for tests, from C sources.

#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::testing {

// A shared object in `folder`, named after the source and the first of the macros ("CASE_X" is
// case_x): strict C99 and every warning an error, so that the ABI's header is held to it. The path.
Result<std::string> build_plugin(const std::string& c_file, const std::string& folder,
                                 const std::vector<std::string>& macros = {});

}  // namespace assay::testing
