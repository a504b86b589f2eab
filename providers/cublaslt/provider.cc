#include "assay/kernel/library_provider.h"
#include "matmul.h"
#include "providers/cublaslt/info.h"

namespace assay::cublaslt {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(
      provider_info(), [](const std::shared_ptr<const Api>& api, const ProviderSettings& settings) {
        return Families{make_matmul_family(api, *SpaceChoice::parse(settings))};
      });
}

}  // namespace assay::cublaslt
