#pragma once

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::cli {

// The cards that the driver shows, or why there is none.
struct CardList {
  std::vector<cuda::Card> cards;
  std::string why_none;
};
CardList list_cards();

// The UUID of the card that --device names (grammar: device/cuda/selection.h); empty for the CPU,
// which is what is used where nothing is named. Lists cards through the driver, in this process; no
// context is made.
Result<std::string> choose_device(const std::string& wanted);

// For kernels whose device nobody named: the first card where all of them are code for cards, else
// the CPU. Files that cannot be read are for the CPU here; who reads them next says what is wrong.
Result<std::string> device_for(const std::vector<std::string>& files);

}  // namespace assay::cli
