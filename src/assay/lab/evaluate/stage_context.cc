#include "assay/lab/evaluate/stage_context.h"

#include <utility>

#include "assay/base/clock.h"

namespace assay::lab {

void conclude(AttemptRecord& record, AttemptOutcome outcome, std::string reason) {
  record.outcome = outcome;
  record.reason = std::move(reason);
}

void add_stage(AttemptRecord& record, const std::string& name, const std::string& outcome,
               double seconds, const std::string& reason) {
  record.stages.push_back({name, outcome, seconds, reason});
}

double seconds_since(std::int64_t began_ns) {
  return static_cast<double>(monotonic_ns() - began_ns) / static_cast<double>(kNsPerSecond);
}

}  // namespace assay::lab
