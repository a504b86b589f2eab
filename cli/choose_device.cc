#include "cli/choose_device.h"

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/device/cuda/selection.h"
#include "assay/input/manifest.h"
#include "assay/kernel/taker.h"

namespace assay::cli {

CardList list_cards() {
  CardList list;
  const auto driver = cuda::Driver::open();
  if (!driver) {
    list.why_none = driver.error().message;
  } else if (auto cards = cuda::list_cards(**driver)) {
    list.cards = std::move(*cards);
  } else {
    list.why_none = cards.error().message;
  }
  return list;
}

Result<std::string> choose_device(const std::string& wanted) {
  if (wanted.empty() || wanted == "cpu") return std::string();
  const CardList list = list_cards();
  ASSAY_TRY(const int index, cuda::choose_device(wanted, list.cards, list.why_none));
  return index < 0 ? std::string() : list.cards[static_cast<size_t>(index)].uuid;
}

Result<std::string> device_for(const std::vector<std::string>& files) {
  const auto providers = built_in_providers();
  const auto entries = input::read_kernel_files(files, launch_forms(providers));
  if (!entries || entries->empty()) return std::string();
  for (const auto& file : *entries) {
    for (const KernelEntry& entry : file) {
      const Provider* const taker = find_taker(providers, entry);
      if (taker == nullptr || !is_for_card(*taker, entry)) return std::string();
    }
  }
  auto card = choose_device("gpu");
  if (!card)
    card.error().message = fmt::format(
        "{} is code for a card: {}; with --target sm_90a it is compiled for one that is elsewhere",
        sanitize(files.front(), 300), card.error().message);
  return card;
}

}  // namespace assay::cli
