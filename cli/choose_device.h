#pragma once

#include <string>

#include "assay/base/result.h"

namespace assay::cli {

// The UUID of the card that --device names (grammar: device/cuda/selection.h); empty for the CPU,
// which is what is used where nothing is named. Lists cards through the driver, in this process; no
// context is made.
Result<std::string> choose_device(const std::string& wanted);

}  // namespace assay::cli
