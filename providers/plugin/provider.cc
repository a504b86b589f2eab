#include "assay/base/json.h"
#include "assay/kernel/file_provider.h"
#include "assay/kernel/plugin_abi.h"
#include "family.h"
#include "providers/plugin/info.h"

namespace assay::plugin {
namespace {

Availability availability(const ProviderSettings&) {
  Availability found;
  found.available = true;
  found.version = fmt::format("ABI {}", ASSAY_PLUGIN_ABI_VERSION);
  return found;
}

}  // namespace

std::unique_ptr<Provider> make_provider() {
  return make_file_provider(provider_info(),
                            {.extensions = {".so"},
                             .bring = [](const KernelEntry& entry,
                                         const ProviderSettings&) { return make_family(entry); },
                             .availability = &availability,
                             .runs_code_to_bring = true});
}

}  // namespace assay::plugin
