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

}  // namespace assay
