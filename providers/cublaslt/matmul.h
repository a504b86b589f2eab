#pragma once

#include <memory>

#include "api.h"
#include "assay/kernel/family.h"
#include "space.h"

namespace assay::cublaslt {

// One family: what the heuristic answers for a problem, each answer a kernel; where that is chosen,
// also what else the library can be told.
std::shared_ptr<const Family> make_matmul_family(std::shared_ptr<const Api> api,
                                                 SpaceChoice choice);

}  // namespace assay::cublaslt
