#pragma once

// Files that a command makes for its user: never in the place of another.

#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::cli {

// A file that was not there before, whole or not at all; missing folders are made. One that is
// there already is invalid_input, which names `flag`, the way to choose another.
Status write_new_file(const std::string& path, std::string_view text, std::string_view flag);

}  // namespace assay::cli
