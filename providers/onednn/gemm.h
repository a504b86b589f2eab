#pragma once

#include <memory>
#include <vector>

#include "api.h"
#include "assay/kernel/library_family.h"

namespace assay::onednn {

// "matmul": the primitive as a caller gets it, and with b in the layout of the library's choice.
std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api);

// "sgemm" and "gemm_s8s8s32": the BLAS-like calls.
std::shared_ptr<const Family> make_sgemm_family(std::shared_ptr<const Api> api);
std::shared_ptr<const Family> make_gemm_s8s8s32_family(std::shared_ptr<const Api> api);

// All of them.
std::vector<std::shared_ptr<const Family>> make_families(std::shared_ptr<const Api> api);

}  // namespace assay::onednn
