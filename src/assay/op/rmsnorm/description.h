#pragma once

// What users write of a problem. Not for use outside op/rmsnorm.

#include <span>

#include "assay/op/rmsnorm/rmsnorm.h"

namespace assay::rmsnorm {

std::span<const FieldRule> field_rules();
Result<Problem> problem_from_json(const Json& fields);

}  // namespace assay::rmsnorm
