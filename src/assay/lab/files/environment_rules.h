#pragma once

// Which variables a case may hand to what it runs.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"

namespace assay::lab {

using Environment = std::map<std::string, std::string>;

// A name of letters, digits and _, that does not look like a secret's, nor changes what a program
// is: loaders and shells read some before main().
Status check_variable(std::string_view name);

// "NAME=value" of a flag, whose name `allowed` (NAME or PREFIX_*) must hold.
Result<Environment> parse_overrides(const std::vector<std::string>& words,
                                    const std::vector<std::string>& allowed);

}  // namespace assay::lab
