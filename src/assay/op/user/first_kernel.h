#pragma once

#include "assay/op/first_kernel.h"
#include "assay/op/user/definition.h"

namespace assay::user {

// C++ that calls the definition's own function: right, and as slow as that.
Result<std::string> naive_kernel(const Definition& definition, const NewKernel& kernel,
                                 const Problem& problem);

}  // namespace assay::user
