#include "assay/kernel/library_provider.h"
#include "gemm.h"
#include "providers/libxsmm/info.h"

namespace assay::libxsmm {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(provider_info(), [](const std::shared_ptr<const Api>& api) {
    return Families{make_gemm_family(api), make_tiles_family(api)};
  });
}

}  // namespace assay::libxsmm
