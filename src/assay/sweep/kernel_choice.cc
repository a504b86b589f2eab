#include "assay/sweep/kernel_choice.h"

#include <algorithm>

#include "assay/base/archive.h"

namespace assay::sweep {

bool KernelChoice::admits(const KernelMetadata& row, ProviderRole role) const {
  const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  return holds(providers, row.provider()) ||
         (role == ProviderRole::user && holds(families, row.family())) ||
         (!ids.empty() && row.has_any_id(ids));
}

template <class Archive, archive::Is<KernelChoice> Choice>
void describe(Archive& archive, Choice& choice) {
  archive("ids", choice.ids);
  archive("providers", choice.providers);
  archive("families", choice.families);
}

Json to_json(const std::vector<KernelChoice>& choices) { return archive::write_any(choices); }

Result<std::vector<KernelChoice>> choices_from_json(const Json& json) {
  JsonDocument document;
  document.root = json;
  document.origin = "a choice of kernels";
  std::vector<KernelChoice> choices;
  ASSAY_TRY(archive::read_any(JsonField(document), choices));
  return choices;
}

}  // namespace assay::sweep
