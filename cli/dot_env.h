#pragma once

#include <map>
#include <string>
#include <string_view>

#include "assay/base/result.h"

namespace assay::cli {

// A .env file: NAME=value lines, with `export` in front or not; quotes around a value are taken
// off. Names that are not ours are left out, however their lines look; a line of ours that cannot
// be read is invalid_input.
Result<std::map<std::string, std::string>> parse_dot_env(std::string_view text);

}  // namespace assay::cli
