#include "assay/compare/run_claims.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/record/totals.h"

namespace assay {
namespace {

constexpr std::string_view kKinds[] = {"sweep", "race", "run", "why"};

// What its compiler or the driver made of it names the card that it is for; host code that launches
// by itself does not.
bool is_device_code(const KernelOutcome& kernel) {
  if (!kernel.launches.empty()) return true;
  const Json facts = kernel.artifact_facts.json();
  const auto target = facts.is_object() ? facts.find("target") : facts.end();
  return facts.is_object() && target != facts.end() && target->is_string() &&
         target->get<std::string>().starts_with("sm_");
}

void check_trust(const RunRecord& record, std::vector<Contradiction>& found) {
  if (record.trust != TrustGrade::device_code) return;
  const std::string says(to_string(record.trust));
  if (record.environment.device.kind != "gpu")
    found.push_back({"trust", says, "less: its device is no card"});
  for (const ProblemRecord& problem : record.problems)
    for (const KernelOutcome& kernel : problem.kernels)
      if (kernel.role == KernelRole::user && is_timed(kernel.ending) && !is_device_code(kernel))
        found.push_back({"trust", says, fmt::format("less: {} is host code", kernel.label())});
}

}  // namespace

std::vector<Contradiction> find_run_contradictions(const RunRecord& record) {
  std::vector<Contradiction> found;
  if (std::ranges::find(kKinds, record.kind) == std::end(kKinds))
    found.push_back({"kind", record.kind, fmt::format("{}", fmt::join(kKinds, " or "))});
  Totals made;
  for (const ProblemRecord& problem : record.problems) count(made, problem);
  const auto hold = [&](std::string what, int64_t recorded, int64_t counted) {
    if (recorded != counted)
      found.push_back({"totals." + what, fmt::to_string(recorded), fmt::to_string(counted)});
  };
  hold("trials", record.totals.trials, made.trials);
  hold("proven", record.totals.proven, made.proven);
  hold("wrong", record.totals.wrong, made.wrong);
  hold("crashed", record.totals.crashed, made.crashed);
  hold("refused", record.totals.refused, made.refused);
  hold("left_out", record.totals.left_out, made.left_out);
  check_trust(record, found);
  return found;
}

}  // namespace assay
