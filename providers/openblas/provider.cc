#include "assay/kernel/library_provider.h"
#include "gemm.h"
#include "providers/openblas/info.h"

namespace assay::openblas {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(provider_info(), [](const std::shared_ptr<const Api>& api) {
    return Families{make_gemm_family(api), make_gemv_family(api)};
  });
}

}  // namespace assay::openblas
