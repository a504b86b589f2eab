#pragma once

// Plain numbers as users write them in flags.

#include <string>

#include "assay/base/result.h"

namespace assay::cli {

// invalid_input, naming the flag, for what is no number from `least` to `most`.
Result<double> parse_number(const std::string& text, const std::string& flag, double least,
                            double most);

}  // namespace assay::cli
