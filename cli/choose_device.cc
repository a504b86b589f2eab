#include "cli/choose_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/device/cuda/selection.h"
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

Json cards_json(const CardList& list) {
  Json cards = Json::array();
  for (const cuda::Card& card : list.cards)
    cards.push_back({{"index", card.ordinal},
                     {"uuid", card.uuid},
                     {"name", card.name},
                     {"pci_bus_id", card.pci_bus_id},
                     {"target", cuda::target_of(card).to_string()},
                     {"memory_bytes", card.memory_bytes}});
  return cards;
}

Result<std::string> choose_device(const std::string& wanted) {
  if (wanted.empty() || wanted == "cpu") return std::string();
  const CardList list = list_cards();
  ASSAY_TRY(const int index, cuda::choose_device(wanted, list.cards, list.why_none));
  return index < 0 ? std::string() : list.cards[static_cast<size_t>(index)].uuid;
}

namespace {

// "cutlass" of "cutlass/128x128x64_...", as run and why are told.
std::string_view provider_of(std::string_view word) { return word.substr(0, word.find('/')); }

}  // namespace

Result<std::string> device_for(const Result<std::vector<input::KernelSource>>& files,
                               const std::vector<std::string>& named) {
  const auto providers = built_in_providers();
  std::string of_a_card;
  for (const std::string& word : named) {
    const auto found = std::ranges::find_if(providers, [&](const auto& provider) {
      return provider->info().name == provider_of(word);
    });
    if (found == providers.end()) return std::string();
    const ProviderInfo& info = (*found)->info();
    if (info.on_card)
      of_a_card = fmt::format("{} has kernels", info.name);
    else if (info.role != ProviderRole::user)  // Else its files decide.
      return std::string();
  }
  if (!files) return std::string();
  for (const input::KernelSource& file : *files) {
    for (const KernelEntry& entry : file.entries) {
      const Provider* const taker = find_taker(providers, entry);
      if (taker == nullptr || !is_for_card(*taker, entry)) return std::string();
      of_a_card = fmt::format("{} is code", sanitize(files->front().text(), 300));
    }
  }
  if (of_a_card.empty()) return std::string();
  auto card = choose_device("gpu");
  if (!card)
    card.error().message = fmt::format(
        "{} for a GPU: {}; `assay race FILE --target sm_90a` and `assay kernels --compile` "
        "compile "
        "for one that is elsewhere",
        of_a_card, card.error().message);
  return card;
}

}  // namespace assay::cli
