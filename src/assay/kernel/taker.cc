#include "assay/kernel/taker.h"

#include <algorithm>

namespace assay {

const Provider* find_taker(std::span<const std::unique_ptr<Provider>> providers,
                           const KernelEntry& entry) {
  const std::string extension = entry.source.extension().string();
  for (const auto& provider : providers) {
    const auto takes = provider->extensions();
    if (entry.provider.empty() ? std::ranges::find(takes, extension) != takes.end()
                               : provider->info().name == entry.provider)
      return provider.get();
  }
  return nullptr;
}

LaunchForms launch_forms(std::span<const std::unique_ptr<Provider>> providers) {
  return [providers](const KernelEntry& entry) {
    const Provider* const taker = find_taker(providers, entry);
    return taker == nullptr ? LaunchForm::itself : taker->launch_form();
  };
}

bool is_for_gpu(const Provider& taker, const KernelEntry& entry) {
  return taker.info().on_gpu || (entry.rule && entry.rule->for_gpus_alone());
}

}  // namespace assay
