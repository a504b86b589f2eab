#pragma once

// Inputs with what is expected of them. Not for use outside op/rmsnorm; everybody else goes through
// Operation::make_instance.

#include <memory>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

Result<std::unique_ptr<Instance>> make_rmsnorm_instance(const Problem& problem, InputKind kind,
                                                        uint64_t seed);

}  // namespace assay::rmsnorm
