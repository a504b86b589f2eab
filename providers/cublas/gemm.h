#pragma once

#include <memory>

#include "api.h"
#include "assay/kernel/family.h"

namespace assay::cublas {

// One kernel: the library's own choice.
std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api);

}  // namespace assay::cublas
