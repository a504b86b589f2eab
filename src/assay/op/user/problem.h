#pragma once

// Problems of a user's operation. Not for use outside op/user.

#include <string>
#include <vector>

#include "assay/op/operation.h"
#include "assay/op/user/definition.h"

namespace assay::user {

std::vector<FieldRule> field_rules(const Definition& definition);
OperationWords words_of(const Definition& definition);

// title: what stands in keys of results beside the name, since names of operations may repeat.
Result<Problem> problem_from_json(const Definition& definition, const std::string& id,
                                  const Json& fields);

size_t output_of(const Problem& problem);  // Its place among the operands.
int64_t elements_of(const Operand& operand);
Tolerance tolerance_of(const Definition& definition, const Problem& problem);
double flops_of(const Definition& definition, const Problem& problem);

}  // namespace assay::user
