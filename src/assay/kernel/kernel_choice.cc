#include "assay/kernel/kernel_choice.h"

#include <algorithm>

#include "assay/kernel/kernel_choice_archive.h"

namespace assay {

bool KernelChoice::admits(const KernelMetadata& row, ProviderRole role) const {
  const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  return holds(providers, row.provider()) ||
         (role == ProviderRole::user && holds(families, row.family())) ||
         (!ids.empty() && row.has_any_id(ids));
}

Json to_json(const std::vector<KernelChoice>& choices) { return archive::write_any(choices); }

}  // namespace assay
