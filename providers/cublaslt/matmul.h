#pragma once

#include <memory>

#include "api.h"
#include "assay/kernel/family.h"

namespace assay::cublaslt {

// One family: what the heuristic answers for a problem, each answer a kernel.
std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api);

}  // namespace assay::cublaslt
