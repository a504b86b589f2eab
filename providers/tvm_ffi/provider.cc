#include "api.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/kernel/file_provider.h"
#include "family.h"
#include "providers/tvm_ffi/info.h"

namespace assay::tvm_ffi {
namespace {

Availability availability(const ProviderSettings& settings) {
  Availability found;
  const auto api = Api::open(settings);
  found.available = api.has_value();
  if (!api) {
    found.reason = fmt::format("{}; install {}, or name the file: --library tvm_ffi=FILE",
                               api.error().message, join(provider_info().packages, " or "));
    return found;
  }
  found.version = (*api)->version();
  found.path = (*api)->path();
  return found;
}

}  // namespace

// No files by their names: a shared object is a plug-in unless its entry says otherwise.
std::unique_ptr<Provider> make_provider() {
  return make_file_provider(
      provider_info(), {.extensions = {}, .bring = &make_family, .availability = &availability});
}

}  // namespace assay::tvm_ffi
