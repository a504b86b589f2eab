#include "assay/compare/run_claims.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/record/ceilings.h"
#include "assay/record/totals.h"

namespace assay {
namespace {

constexpr std::string_view kKinds[] = {"sweep", "race", "run", "why"};

// What its compiler or the driver made of it names the GPU that it is for; host code that launches
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
    found.push_back({"trust", says, "less: its device is no GPU"});
  for (const ProblemRecord& problem : record.problems)
    for (const KernelOutcome& kernel : problem.kernels)
      if (kernel.role == KernelRole::user && is_timed(kernel.ending) && !is_device_code(kernel))
        found.push_back({"trust", says, fmt::format("less: {} is host code", kernel.label())});
}

// A grade and its reason are written together (sweep/trust.cc).
void check_reason(const RunRecord& record, std::vector<Contradiction>& found) {
  constexpr std::string_view kOfDeviceCode = "what users brought runs on the GPU alone";
  constexpr std::string_view kOfDeviceCodeEarlier = "what users brought runs on the card alone";
  constexpr std::string_view kOfConfined = "native code in processes ";
  const std::string_view reason = record.trust_reason;
  TrustGrade meant = TrustGrade::unconfined_native;
  if (reason.starts_with(kOfDeviceCode) || reason.starts_with(kOfDeviceCodeEarlier))
    meant = TrustGrade::device_code;
  if (reason.starts_with(kOfConfined)) meant = TrustGrade::confined_native;
  if (record.trust != meant)
    found.push_back({"trust", std::string(to_string(record.trust)),
                     fmt::format("{}: its reason is that of this grade", to_string(meant))});
}

// A run that confirms nothing claims nothing, and says neither who won nor how near to a ceiling.
void check_kind(const RunRecord& record, std::vector<Contradiction>& found) {
  if (record.kind != "run") return;
  for (const ProblemRecord& problem : record.problems)
    if (!problem.confirmations.empty() || problem.ceiling_share > 0)
      found.push_back({"kind", record.kind, problem.name + " was confirmed, as no run is"});
}

// A winner's share of a ceiling. Ceilings are the largest so far, so that those of the record's end
// are no lower than any that a problem met.
void check_ceiling(const RunRecord& record, const ProblemRecord& problem,
                   std::vector<Contradiction>& found) {
  constexpr double kSlack = 1e-9;
  const KernelOutcome* winner = problem.winner();
  const double us = winner == nullptr ? 0 : problem.conclusion()->median_us(winner->id);
  const Roof last = roof_of(problem, record.environment.ceilings);
  const auto say = [&](const std::string& made) {
    found.push_back({"ceiling_share of " + problem.name,
                     fmt::format("{:.9g} of {}", problem.ceiling_share, problem.ceiling), made});
  };
  if (problem.ceiling_share == 0 && problem.ceiling.empty()) return;  // Nothing is claimed.
  if (us <= 0 || last.seconds <= 0) {
    if (problem.ceiling_share > 0) say("0: there is no winner, or nothing to hold it against");
    return;
  }
  const bool of_bytes = problem.ceiling == "read";
  const double work = of_bytes ? problem.bytes : problem.flops;
  if (problem.ceiling_value > 0) {
    const double share = work / problem.ceiling_value * 1e6 / us;
    if (std::abs(problem.ceiling_share - share) > kSlack * share) say(fmt::format("{:.9g}", share));
    const auto named =
        std::ranges::find(record.environment.ceilings, problem.ceiling, &Ceiling::name);
    if (named == record.environment.ceilings.end() ||
        problem.ceiling_value > named->value * (1 + kSlack))
      say("a ceiling that the machine was not measured to have");
    return;
  }
  if (!of_bytes && !problem.ceiling.starts_with("flops_")) say("of a ceiling that there is");
  const double least = last.seconds * 1e6 / us;
  if (problem.ceiling_share < least * (1 - kSlack)) say(fmt::format("at least {:.9g}", least));
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
  check_reason(record, found);
  check_kind(record, found);
  for (const ProblemRecord& problem : record.problems) check_ceiling(record, problem, found);
  return found;
}

}  // namespace assay
