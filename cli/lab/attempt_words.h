#pragma once

// An attempt's parts as users read them.

#include <string>

#include "assay/lab/files/history.h"

namespace assay::cli {

std::string outcome_word(const lab::Attempt& attempt);  // "running", "baseline", "keep" ...
std::string value_text(const lab::Primary& primary);    // "80.0 us"
// "+3.20 % [+2.10, +4.30]": the ratio's excess over 1, and its interval where it has one.
std::string gain_text(const lab::Claim& claim);

}  // namespace assay::cli
