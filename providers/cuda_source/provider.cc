#include "assay/base/json.h"
#include "assay/kernel/file_provider.h"
#include "family.h"
#include "flags.h"
#include "nvrtc.h"
#include "providers/cuda_source/info.h"

namespace assay::cuda_source {
namespace {

Availability availability(const ProviderSettings& settings) {
  Availability found;
  const auto nvrtc = Nvrtc::open(settings);
  found.available = nvrtc.has_value();
  if (!nvrtc) {
    found.reason = nvrtc.error().message;
    return found;
  }
  found.version = (*nvrtc)->version();
  found.path = (*nvrtc)->path();
  found.details = {{"include", (*nvrtc)->include_folders()}};
  return found;
}

}  // namespace

std::unique_ptr<Provider> make_provider() {
  return make_file_provider(provider_info(), {.extensions = {".cu"},
                                              .launch_form = LaunchForm::geometry,
                                              .bring = &make_family,
                                              .availability = &availability,
                                              .check_flag = &check_flag});
}

}  // namespace assay::cuda_source
