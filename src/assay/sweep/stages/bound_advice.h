#pragma once

// What a mismatch says of a kernel that declares no other bound of errors, and is right by the
// normwise one.

#include <string>

#include "assay/op/problem.h"

namespace assay::sweep {

std::string bound_advice(const Problem& problem);

}  // namespace assay::sweep
