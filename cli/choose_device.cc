#include "cli/choose_device.h"

#include "assay/device/cuda/selection.h"

namespace assay::cli {

Result<std::string> choose_device(const std::string& wanted) {
  if (wanted.empty() || wanted == "cpu") return std::string();
  std::vector<cuda::Card> cards;
  std::string why_none;
  if (const auto driver = cuda::Driver::open()) {
    ASSAY_TRY(cards, cuda::list_cards(**driver));
  } else {
    why_none = driver.error().message;
  }
  ASSAY_TRY(const int index, cuda::choose_device(wanted, cards, why_none));
  return index < 0 ? std::string() : cards[static_cast<size_t>(index)].uuid;
}

}  // namespace assay::cli
