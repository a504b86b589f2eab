#include "gemm.h"

namespace assay::onednn {

std::vector<std::shared_ptr<const Family>> make_families(std::shared_ptr<const Api> api) {
  return {make_matmul_family(api), make_sgemm_family(api), make_gemm_s8s8s32_family(api)};
}

}  // namespace assay::onednn
