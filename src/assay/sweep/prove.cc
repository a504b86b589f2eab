#include <algorithm>
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
    candidate.outcome.ending =
        ending::Mismatch{fmt::format("{} inputs: {}", kind, check.first_wrong)};
}

// What a worker says of the launches on one instance. Not well formed: no worker of ours said it.
struct LaunchFacts {
  double ns = 0;
  bool repeatable = true, inputs_changed = false, float_control_changed = false;
  std::string trespass;
  size_t outputs = 1;  // The first launch's, and the second's where it is not known to be the same.
};

Result<LaunchFacts> read_launch(const Json& json) {
  const auto truth = [&](const char* key) -> Result<bool> {
    ASSAY_TRY(const Json* value, member(json, key));
    if (!value->is_boolean()) return fail(ErrorCode::internal, "{} is neither true nor false", key);
    return value->get<bool>();
  };
  LaunchFacts facts;
  facts.ns = number_or(json, "ns", 0);
  ASSAY_TRY(facts.repeatable, truth("repeatable"));
  ASSAY_TRY(facts.inputs_changed, truth("inputs_changed"));
  ASSAY_TRY(facts.float_control_changed, truth("float_control_changed"));
  ASSAY_TRY(facts.trespass, text(json, "trespass"));
  ASSAY_TRY(const int64_t outputs, integer(json, "outputs"));
  if (outputs != 1 && outputs != 2) return fail(ErrorCode::internal, "{} outputs", outputs);
  facts.outputs = static_cast<size_t>(outputs);
  return facts;
}

Result<std::vector<LaunchFacts>> read_launches(const Message& answer, size_t instances) {
  ASSAY_TRY(const Json* launches, member(answer.json, "launches"));
  std::vector<LaunchFacts> read;
  size_t outputs = 0;
  if (launches->is_array()) {
    for (const Json& launch : *launches) {
      ASSAY_TRY(auto facts, read_launch(launch));
      outputs += facts.outputs;
      read.push_back(std::move(facts));
    }
  }
  if (read.size() != instances || outputs != answer.fds.size())
    return fail(ErrorCode::internal, "{} launches and {} outputs for {} instances", read.size(),
                answer.fds.size(), instances);
  return read;
}

void add_launch(Candidate& candidate, const LaunchFacts& launch) {
  KernelOutcome& outcome = candidate.outcome;
  outcome.proof->launches += 2;
  if (launch.ns > 0)
    candidate.launch_ns =
        candidate.launch_ns > 0 ? std::min(candidate.launch_ns, launch.ns) : launch.ns;
  if (!launch.repeatable) outcome.proof->bitwise_repeatable = false;
  if (!candidate.alive()) return;
  if (!launch.trespass.empty())
    outcome.ending = ending::Violation{"writes_outside", launch.trespass};
  else if (launch.inputs_changed)
    outcome.ending = ending::Violation{"inputs_changed", "wrote to an input"};
  else if (launch.float_control_changed)
    outcome.ending =
        ending::Violation{"float_control",
                          "left the processor rounding, or treating subnormal numbers, "
                          "in another way than it found it"};
}

}  // namespace

Status judge_proof(Candidate& candidate, const Instances& instances, size_t count,
                   const Message& answer, Child& worker) {
  const auto launches = read_launches(answer, count);
  if (!launches) {
    candidate.outcome.ending = ending_of(worker.dismiss(launches.error().message), "verify");
    candidate.outcome.proof.reset();
    return {};
  }
  size_t output = 0;
  for (size_t i = 0; i < launches->size(); ++i) {
    add_launch(candidate, (*launches)[i]);
    for (size_t o = 0; o < (*launches)[i].outputs; ++o) {
      ASSAY_TRY(const Check check, instances.check(i, answer.fds[output++].get(), 0));
      // One line for each kind of input, and one more where the second launch alone was wrong.
      if (o == 0 || !check.right) add_check(candidate, instances.kind(i), check);
    }
  }
  const auto busy = answer.json.find("busy_threads");
  if (candidate.alive() && busy != answer.json.end() && *busy == true)
    candidate.outcome.ending = ending::Violation{
        "background_work",
        "its threads went on working after its launches, and would slow down every other kernel"};
  // What a wrong kernel left behind (inputs that it changed, threads that write later) is no place
  // to prove another one.
  if (!candidate.alive()) worker.dismiss("a wrong kernel ran there");
  return {};
}

Status prove(const Station& station, Field& field) {
  size_t wanted = 0;
  for (const Candidate& candidate : field.candidates)
    wanted += candidate.alive() && !candidate.proven ? 1 : 0;
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
    if (!loaded) {
      Status done_loading = instances.load_into(*worker, 1);
      if (!done_loading && !worker->alive() &&
          done_loading.error().code != ErrorCode::interrupted) {
        // What ran in it before brought it down after its answers.
        ASSAY_TRY(worker, station.crew.runner());
        done_loading = instances.load_into(*worker, 1);
      }
      ASSAY_TRY(done_loading);
    }
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
      ASSAY_TRY(judge_proof(candidate, instances, instances.count(), *answer, *worker));
      loaded = worker->alive();
      const Json& row = candidate.row;
      if (candidate.outcome.proof && !candidate.outcome.proof->bitwise_repeatable) {
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
