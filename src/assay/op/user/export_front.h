#pragma once

// What an exported kernel's caller is told of a user's operation. Not for use outside op/user.

#include <string>
#include <vector>

#include "assay/op/export_front.h"
#include "assay/op/user/definition.h"

namespace assay::user {

std::string formula_of(const Definition& definition);
// The user's own function goes along. One in Python is not called by a program of C++: then the
// caller compares nothing, and says so.
Result<std::vector<ReferenceFile>> reference_files(const Definition& definition,
                                                   const Problem& problem);

}  // namespace assay::user
