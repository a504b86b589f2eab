#pragma once

// Numbers as users write them in flags. Errors name the flag and show what would be right.

#include <cstdint>
#include <string>
#include <utility>

#include "assay/base/result.h"

namespace assay::cli {

Result<double> parse_fraction(const std::string& text, const std::string& flag);     // "1%", "0.01"
Result<double> parse_seconds(const std::string& text, const std::string& flag);      // "60s", "2m"
Result<std::int64_t> parse_bytes(const std::string& text, const std::string& flag);  // "2GiB"

// "triton=5%" -> {"triton", 0.05}.
Result<std::pair<std::string, double>> parse_named_fraction(const std::string& text,
                                                            const std::string& flag);

}  // namespace assay::cli
