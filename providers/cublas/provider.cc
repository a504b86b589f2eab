#include "assay/kernel/library_provider.h"
#include "gemm.h"
#include "providers/cublas/info.h"

namespace assay::cublas {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(provider_info(), [](const std::shared_ptr<const Api>& api) {
    return Families{make_gemm_family(api)};
  });
}

}  // namespace assay::cublas
