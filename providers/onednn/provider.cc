#include "assay/kernel/library_provider.h"
#include "gemm.h"
#include "providers/onednn/info.h"

namespace assay::onednn {

std::unique_ptr<Provider> make_provider() {
  return make_library_provider<Api>(provider_info(), &make_families);
}

}  // namespace assay::onednn
