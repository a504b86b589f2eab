#pragma once

#include <vector>

#include "assay/lab/files/case_file.h"

namespace assay::lab {

// What is measured, and by which guardrails, in a lane or in none.
struct AttemptPlan {
  std::vector<const Benchmark*> benchmarks;
  std::vector<const Guardrail*> guardrails;
  Environment environment;
};

// lane: of case.yaml; empty: all of the case. invalid_input names the lanes that there are.
Result<AttemptPlan> plan_of(const Case& target, const std::string& lane);

// unsupported: what a case may ask for and this version does not do.
Status check_supported(const Case& target, const AttemptPlan& plan);

// Whether anything that runs sees them: an attempt at nothing is no attempt. invalid_input names
// what would.
Status check_variables(const Case& target, const AttemptPlan& plan, const Environment& variables);

}  // namespace assay::lab
