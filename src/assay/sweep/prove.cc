#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/sweep/instances.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {
namespace {

// What the checks of one kernel add up to. The launches are those of `prove`, the outputs theirs.
void add_check(Candidate& candidate, const std::string& kind, const Check& check) {
  ProofSummary& proof = *candidate.outcome.proof;
  proof.checks.push_back({kind, check.method, check.elements, check.compared, check.wrong,
                          std::isfinite(check.max_error) ? check.max_error : 1e300,
                          std::isfinite(check.mean_error) ? check.mean_error : 1e300,
                          check.smallest_visible, check.first_wrong});
  proof.max_error = std::max(proof.max_error, proof.checks.back().max_error);
  if (kind == to_string(InputKind::uniform)) {
    proof.mean_error = proof.checks.back().mean_error;
    proof.method = check.method;
    proof.smallest_visible = check.smallest_visible;
  }
  if (check.right) return;
  proof.right = false;
  if (candidate.alive())
    candidate.outcome.ending = ending::Mismatch{fmt::format("{} inputs: {}", kind, check.first_wrong)};
}

void add_launch(Candidate& candidate, const Json& launch) {
  KernelOutcome& outcome = candidate.outcome;
  outcome.proof->launches += 2;
  const double ns = number_or(launch, "ns", 0);
  if (ns > 0) candidate.launch_ns = candidate.launch_ns > 0 ? std::min(candidate.launch_ns, ns) : ns;
  const std::string trespass = launch.value("trespass", std::string());
  if (!trespass.empty()) outcome.ending = ending::Violation{"writes_outside", trespass};
  if (launch.value("inputs_changed", false))
    outcome.ending = ending::Violation{"inputs_changed", "wrote to an input"};
  if (!launch.value("repeatable", true)) outcome.proof->bitwise_repeatable = false;
}

}  // namespace

Status prove(const Station& station, Field& field) {
  size_t wanted = 0;
  for (const Candidate& candidate : field.candidates) wanted += candidate.alive() && !candidate.proven ? 1 : 0;
  if (wanted == 0) return {};

  Instances instances(station);
  ASSAY_TRY(instances.make_all_kinds());
  Json indices = Json::array();
  for (size_t i = 0; i < instances.count(); ++i) indices.push_back(i);

  bool loaded = false;
  size_t done = 0;
  for (Candidate& candidate : field.candidates) {
    if (!candidate.alive() || candidate.proven) continue;
    station.observer.on_stage("prove", ++done, wanted, candidate.outcome.label());
    ASSAY_TRY(Child * worker, station.crew.runner());
    if (!loaded) ASSAY_TRY(instances.load_into(*worker, 1));
    candidate.outcome.proof.emplace();
    candidate.outcome.proof->right = true;
    Json message = station.message("prove");
    message["row"] = candidate.row;
    message["artifact"] = candidate.artifact;
    message["instances"] = indices;
    auto answer = worker->call(message, station.request.trial_timeout_seconds);
    loaded = worker->alive();
    if (!answer) {
      if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
      candidate.outcome.proof.reset();
      candidate.outcome.ending = ending_of(answer.error(), "verify");
    } else {
      ASSAY_TRY(const Json* launches, member(answer->json, "launches"));
      if (launches->size() != instances.count() || answer->fds.size() != instances.count())
        return fail(ErrorCode::internal, "a worker proved {} of {} instances", launches->size(), instances.count());
      for (size_t i = 0; i < instances.count(); ++i) {
        add_launch(candidate, (*launches)[i]);
        ASSAY_TRY(const Check check, instances.check(i, answer->fds[i].get(), 0));
        add_check(candidate, instances.kind(i), check);
      }
      const Json& row = candidate.row;
      if (!candidate.outcome.proof->bitwise_repeatable) {
        const bool declared = !row.value("deterministic", true);
        candidate.outcome.findings.push_back(
            {"nondeterministic", declared ? "two launches on the same inputs differ, as it declares"
                                          : "two launches on the same inputs differ in some bits"});
      }
      candidate.proven = candidate.alive();
    }
    ASSAY_TRY(station.journal.add({{"line", "kernel"},
                                   {"problem", station.problem.name()},
                                   {"id", candidate.outcome.id},
                                   {"launch_ns", candidate.launch_ns},
                                   {"outcome", to_json(candidate.outcome)}}));
  }
  return instances.drop();
}

}  // namespace assay::sweep
