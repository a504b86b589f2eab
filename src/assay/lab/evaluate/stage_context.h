#pragma once

// What the stages of one attempt work on.

#include <cstdint>
#include <string>

#include "assay/lab/evaluate/attempt_plan.h"
#include "assay/lab/evaluate/evaluate.h"

namespace assay::lab {

struct StageContext {
  const Case& target;
  const EvaluateOptions& options;
  const EvaluateObserver& observer;
  const AttemptPlan& plan;
  AttemptRecord& record;
};

void conclude(AttemptRecord& record, AttemptOutcome outcome, std::string reason);
void add_stage(AttemptRecord& record, const std::string& name, const std::string& outcome,
               double seconds, const std::string& reason = {});
double seconds_since(std::int64_t began_ns);  // Of monotonic_ns().

}  // namespace assay::lab
