#include "assay/base/json.h"
#include "assay/kernel/file_provider.h"
#include "family.h"
#include "providers/ptx/info.h"

namespace assay::ptx {
namespace {

// The driver compiles and loads: nothing else is needed, and without it there is no GPU.
Availability availability(const ProviderSettings&) {
  return {.available = true, .reason = {}, .version = {}, .path = {}, .details = {}};
}

}  // namespace

std::unique_ptr<Provider> make_provider() {
  return make_file_provider(provider_info(),
                            {.extensions = {".ptx", ".cubin"},
                             .launch_form = LaunchForm::geometry,
                             .bring = [](const KernelEntry& entry,
                                         const ProviderSettings&) { return make_family(entry); },
                             .availability = &availability});
}

}  // namespace assay::ptx
