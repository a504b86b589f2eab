#pragma once

// Inputs of a user's operation, and what his reference makes of them. Not for use outside op/user.

#include <memory>

#include "assay/op/operation.h"
#include "assay/op/user/definition.h"
#include "assay/op/user/reference.h"

namespace assay::user {

// Of uniform inputs: fails where the tolerance does not tell right from wrong, since whatever is
// timed is compared so.
Result<std::unique_ptr<Instance>> make_user_instance(const Definition& definition,
                                                     const Problem& problem, InputKind kind,
                                                     uint64_t seed,
                                                     std::shared_ptr<Reference> reference);

}  // namespace assay::user
