#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"
#include "assay/input/kernel_source.h"

namespace assay::cli {

// The cards that the driver shows, or why there is none.
struct CardList {
  std::vector<cuda::Card> cards;
  std::string why_none;
};
CardList list_cards();
Json cards_json(const CardList& list);  // The cards.

// The UUID of the card that --device names (grammar: device/cuda/selection.h); empty for the CPU,
// which is what is used where nothing is named. Lists cards through the driver, in this process; no
// context is made.
Result<std::string> choose_device(const std::string& wanted);

// For kernels whose device nobody named: the first card where all files, and all providers (or
// kernels, PROVIDER/NAME) that were named, are for cards; else the CPU, also where nothing was
// named. Files that could not be read and providers that there are not are for the CPU here;
// whoever needs them says what is wrong.
Result<std::string> device_for(const Result<std::vector<input::KernelSource>>& files,
                               const std::vector<std::string>& named);

}  // namespace assay::cli
