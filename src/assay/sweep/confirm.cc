#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/hash.h"
#include "assay/stats/plan_confirm.h"
#include "assay/sweep/bursts.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {
namespace {

// At timed outputs of each kernel and process, beside that at the end.
constexpr double kLooksAtOutputs = 4;

// Each finalist is proven again in each process, on that process's own inputs.
Status prove_again(const Station& station, Field& field, Child& worker, const Instances& instances,
                   const std::vector<size_t>& finalists) {
  for (const size_t index : finalists) {
    Candidate& candidate = field.candidates[index];
    if (!candidate.alive() || !worker.alive()) continue;
    Json message = station.message("prove");
    message["row"] = candidate.row();
    message["artifact"] = candidate.artifact();
    message["instances"] = Json::array({0u});
    auto answer = worker.call(message, station.request.trial_timeout_seconds);
    if (!answer) {
      if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
      candidate.outcome.ending = ending_of(answer.error(), "verify");
      continue;
    }
    if (!candidate.outcome.proof) candidate.outcome.proof.emplace().right = true;
    ASSAY_TRY(judge_proof(candidate, instances, 1, *answer, worker));
  }
  return {};
}

ProcessSamples empty_samples(const Field& field, const std::vector<size_t>& finalists) {
  ProcessSamples samples;
  samples.placements = 1;
  for (const size_t index : finalists) {
    KernelSamples kernel;
    kernel.id = field.candidates[index].outcome.id;
    kernel.launches = field.candidates[index].launches;
    samples.kernels.push_back(std::move(kernel));
  }
  return samples;
}

void add_round(ProcessSamples& samples, const std::vector<size_t>& finalists,
               const Bursts::Round& round) {
  // Buffers of every set lie at places of their own (worker_problem.h), and bursts walk through the
  // sets: all rounds of a process are one block over many placements.
  samples.placement.push_back(0);
  std::vector<int>& order = samples.order.emplace_back();
  for (KernelSamples& kernel : samples.kernels) {
    kernel.burst_ns.push_back(0);
    kernel.clean.push_back(0);
  }
  for (const auto& sample : round.samples) {
    const auto at = std::ranges::find(finalists, sample.candidate) - finalists.begin();
    auto& kernel = samples.kernels[static_cast<size_t>(at)];
    kernel.burst_ns.back() = sample.ns;
    kernel.clean.back() = sample.clean ? 1 : 0;
    kernel.launches = sample.launches;
    order.push_back(static_cast<int>(at));
  }
}

}  // namespace

Result<ConfirmResult> confirm(const Station& station, Field& field, const RaceResult& race,
                              double budget_seconds) {
  ConfirmResult result;
  Confirmation& confirmation = result.confirmation;
  confirmation.finalists = race.finalists;
  confirmation.leader = race.leader;
  confirmation.candidate = race.candidate;
  confirmation.baseline = race.baseline;
  confirmation.incumbent = race.incumbent;

  std::vector<size_t> finalists;
  for (const std::string& id : race.finalists)
    for (size_t i = 0; i < field.candidates.size(); ++i)
      if (field.candidates[i].outcome.id == id) finalists.push_back(i);

  // Fixed now, before the first confirming sample: no peeking, no extension.
  stats::ConfirmBudget budget;
  budget.round_ns = race.round_ns;
  budget.budget_ns = budget_seconds * 1e9;
  budget.processes = station.request.processes;
  budget.placements = 1;  // As add_round() says.
  const auto planned = stats::predict_confirm_rounds(race.spread, station.request.margin, budget);
  confirmation.rounds = planned.rounds;
  confirmation.wanted_rounds = planned.wanted;

  Instances base(station);
  ASSAY_TRY(base.commit());
  ASSAY_TRY(base.make(InputKind::uniform));
  for (int p = 0; p < station.request.processes; ++p) {
    station.observer.on_stage("confirm", static_cast<size_t>(p) + 1,
                              static_cast<size_t>(station.request.processes), "");
    Instances instances(station);
    ASSAY_TRY(instances.commit());
    ASSAY_TRY(instances.derive_from(base, 0));
    Bursts bursts(station, field);
    const auto worker = [&] { return station.crew.confirmer(static_cast<size_t>(p)); };
    ASSAY_TRY(bursts.open(instances, finalists, worker, static_cast<uint64_t>(p) + 11));
    ASSAY_TRY(Child * process, worker());
    // In an order of its own: what libraries allocate at their first call lies where it happens to,
    // and whoever is first should not be so in every process.
    std::vector<size_t> order = finalists;
    std::shuffle(order.begin(), order.end(), std::mt19937_64(fast_hash(instances.commitment())));
    ASSAY_TRY(prove_again(station, field, *process, instances, order));
    if (!process->alive()) {
      // Whoever killed it has its ending; the rest go on in a new process, on the same inputs.
      ASSAY_TRY(bursts.open(instances, finalists, worker, static_cast<uint64_t>(p) + 11));
    }
    ProcessSamples samples = empty_samples(field, finalists);
    samples.seed_commitment = instances.commitment();
    // One untimed round warms code, clocks and pools.
    for (int round = -1; round < confirmation.rounds; ++round) {
      std::vector<size_t> who;
      for (const size_t index : finalists)
        if (field.candidates[index].alive()) who.push_back(index);
      if (who.empty()) break;
      ASSAY_TRY(const auto sampled, bursts.round(who, "confirm"));
      if (round >= 0) add_round(samples, finalists, sampled);
      ASSAY_TRY(
          bursts.judge_some(instances, who, std::min(1.0, kLooksAtOutputs / confirmation.rounds)));
    }
    for (const size_t index : finalists)
      if (field.candidates[index].alive()) ASSAY_TRY(bursts.judge_timed_output(instances, index));
    ASSAY_TRY(bursts.unload());
    ASSAY_TRY(samples.seed, instances.reveal());
    ASSAY_TRY(instances.drop());
    result.timed_seconds += bursts.seconds();
    if (!bursts.cold_doubt().empty()) result.cold_doubt = bursts.cold_doubt();
    confirmation.processes.push_back(std::move(samples));
  }
  ASSAY_TRY(base.drop());
  return result;
}

}  // namespace assay::sweep
