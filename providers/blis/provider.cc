#include "assay/kernel/library_provider.h"
#include "gemm.h"
#include "providers/blis/info.h"

namespace assay::blis {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(provider_info(), [](const std::shared_ptr<const Api>& api) {
    return Families{make_gemm_family(api)};
  });
}

}  // namespace assay::blis
