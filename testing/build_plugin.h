#pragma once

// Shared objects for tests: plug-ins from C sources, others from C++.

#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::testing {

// A shared object in `folder`, named after the source and the first of the macros ("CASE_X" is
// case_x): C++17 where the source ends in .cc, else strict C99; every warning an error, so that the
// ABI's header is held to it. The path.
Result<std::string> build_plugin(const std::string& file, const std::string& folder,
                                 const std::vector<std::string>& macros = {});

}  // namespace assay::testing
