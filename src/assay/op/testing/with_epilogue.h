#pragma once

// A problem that no operation makes: with an epilogue that has no reference, for testing what
// stands behind that refusal (op/operation.h: check_epilogue).

#include <string>

#include "assay/op/problem.h"

namespace assay::testing {

inline Problem with_epilogue(const Problem& problem, std::string epilogue) {
  Problem::Parts parts;
  parts.operation = problem.operation();
  parts.name = problem.name();
  parts.role = problem.role();
  parts.weight = problem.weight();
  parts.dimensions.assign(problem.dimensions().begin(), problem.dimensions().end());
  parts.operands.assign(problem.operands().begin(), problem.operands().end());
  parts.attributes = problem.attributes();
  parts.attributes["epilogue"] = std::move(epilogue);
  parts.layout = problem.layout();
  return Problem::from_parts(std::move(parts));
}

}  // namespace assay::testing
