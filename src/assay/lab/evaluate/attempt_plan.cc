#include "assay/lab/evaluate/attempt_plan.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "assay/base/text.h"

namespace assay::lab {

Result<AttemptPlan> plan_of(const Case& target, const std::string& lane_name) {
  AttemptPlan plan;
  const auto lane = target.lanes.find(lane_name);
  if (!lane_name.empty() && lane == target.lanes.end()) {
    std::vector<std::string> names;
    for (const auto& [name, one] : target.lanes) names.push_back(name);
    return fail(ErrorCode::invalid_input, "--lane: case.yaml has no lane '{}' (it has: {})",
                sanitize(lane_name, 80), names.empty() ? "none" : join(names, ", "));
  }
  std::set<std::string> wanted;
  if (!lane_name.empty()) {
    plan.environment = lane->second.environment;
    wanted.insert(lane->second.benchmarks.begin(), lane->second.benchmarks.end());
    wanted.insert(target.objective.metric.substr(0, target.objective.metric.find('.')));
  }
  for (const Guardrail& guardrail : target.guardrails) {
    if (!lane_name.empty() && std::ranges::find(lane->second.kept_guardrails, guardrail.metric) ==
                                  lane->second.kept_guardrails.end())
      continue;
    plan.guardrails.push_back(&guardrail);
    if (!lane_name.empty()) wanted.insert(guardrail.metric.substr(0, guardrail.metric.find('.')));
  }
  for (const Benchmark& benchmark : target.benchmarks)
    if (lane_name.empty() || wanted.contains(benchmark.name)) plan.benchmarks.push_back(&benchmark);
  return plan;
}

Status check_supported(const Case& target, const AttemptPlan& plan) {
  for (const Benchmark* benchmark : plan.benchmarks)
    if (const auto* http = std::get_if<OpenAiHttp>(&benchmark->kind);
        http != nullptr && http->base_url.empty() && !target.server)
      return fail(ErrorCode::invalid_input,
                  "{}: its target is the case's server, and case.yaml has none: add `server`",
                  benchmark->file);
  return {};
}

Status check_variables(const Case& target, const AttemptPlan& plan, const Environment& variables) {
  if (variables.empty() || !target.setup.empty() || !target.build.empty() ||
      std::ranges::any_of(plan.benchmarks, [](const Benchmark* benchmark) {
        return !std::holds_alternative<SweepRace>(benchmark->kind);
      }))
    return {};
  return fail(ErrorCode::invalid_input,
              "nothing that is measured here sees variables: the kernels of a `sweep` run in an "
              "environment of assay's own, and case.yaml names no setup or build. Add a benchmark "
              "that runs a program or a server, or commands.build");
}

}  // namespace assay::lab
