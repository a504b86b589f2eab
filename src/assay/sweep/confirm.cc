#include "assay/sweep/confirm.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/hash.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {

// At timed outputs of each kernel, over all processes, beside that at the end of each.
constexpr double kLooksAtOutputs = 28;

// Of operands' placement; whatever seeds a race's or a count's.
constexpr uint64_t kPlacementSeed = 11;

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
  if (samples.bare_links) {
    samples.bare_links->burst_ns.push_back(round.bare ? round.bare->ns : 0);
    samples.bare_links->clean.push_back(round.bare && round.bare->clean ? 1 : 0);
    if (round.bare) samples.bare_links->launches = round.bare->launches;
  }
}

}  // namespace

Confirming::Confirming(const Station& station, Field& field, const RaceResult& race)
    : station_(station),
      field_(field),
      spread_(race.spread),
      round_ns_(race.round_ns),
      base_(station) {
  plan_.processes = station.request.processes;
  confirmation_.finalists = race.finalists;
  confirmation_.leader = race.leader;
  confirmation_.candidate = race.candidate;
  confirmation_.baseline = race.baseline;
  for (const std::string& id : race.finalists)
    for (size_t i = 0; i < field.candidates.size(); ++i)
      if (field.candidates[i].outcome.id == id) finalists_.push_back(i);
  if (!station.request.device.empty()) equalise_launches();
}

// What a burst on a card costs beside its launches (0.7 us back to back, by A/A races of bursts of
// three and of four launches) is shared by as many of each kernel.
void Confirming::equalise_launches() {
  int most = 1;
  for (const size_t index : finalists_) most = std::max(most, field_.candidates[index].launches);
  for (const size_t index : finalists_) field_.candidates[index].launches = most;
}

Status Confirming::begin() {
  ASSAY_TRY(base_.commit());
  ASSAY_TRY(base_.make(InputKind::uniform));
  base_.close_files();
  return {};
}

double Confirming::bytes() const {
  // As operands are rotated (worker_problem.cc, card_problem.cc), and as often as they are packed.
  constexpr double kSets = 4, kCaches = 3, kProcess = 0x1p29;
  double operands = 0;
  for (const Operand& operand : station_.problem.operands())
    operands += static_cast<double>(operand.span_bytes);
  const auto cache = static_cast<double>(station_.crew.facts().last_level_cache_bytes);
  return kProcess +
         (1 + static_cast<double>(finalists_.size())) * std::max(kSets * operands, kCaches * cache);
}

void Confirming::plan(double budget_seconds, double setup_seconds) {
  planned_ = true;
  const Request& request = station_.request;
  plan_ = stats::plan_confirmation(spread_, request.margin,
                                   {.round_ns = round_ns_,
                                    .setup_ns = setup_seconds * 1e9,
                                    .budget_ns = budget_seconds * 1e9,
                                    .fewest = request.processes,
                                    .most = most_processes(request)});
  confirmation_.rounds = plan_.rounds;
  confirmation_.wanted_rounds = plan_.wanted;
}

// Each finalist is proven again in each process, on that process's own inputs.
Status Confirming::prove_again(Child& worker, const Instances& instances) {
  // In an order of its own: what libraries allocate at their first call lies where it happens to,
  // and whoever is first should not be so in every process.
  std::vector<size_t> order = finalists_;
  std::shuffle(order.begin(), order.end(), std::mt19937_64(fast_hash(instances.commitment())));
  for (const size_t index : order) {
    Candidate& candidate = field_.candidates[index];
    if (!candidate.alive() || !worker.alive()) continue;
    Json message = station_.message("prove");
    message["row"] = candidate.row();
    message["artifact"] = candidate.artifact();
    message["instances"] = Json::array({0u});
    message["share"] = station_.crew.referee_sees_card();
    auto answer = worker.call(message, station_.request.trial_timeout_seconds);
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

Status Confirming::make_rounds(Bursts& bursts, const Instances& instances,
                               ProcessSamples& samples) {
  const double looks = std::min(1.0, kLooksAtOutputs / (plan_.processes * plan_.rounds));
  // One untimed round warms code, clocks and pools.
  for (int round = -1; round < plan_.rounds; ++round) {
    std::vector<size_t> who;
    for (const size_t index : finalists_)
      if (field_.candidates[index].alive()) who.push_back(index);
    if (who.empty()) break;
    ASSAY_TRY(const auto sampled, bursts.round(who, "confirm"));
    if (round >= 0) add_round(samples, finalists_, sampled);
    ASSAY_TRY(bursts.judge_some(instances, who, looks));
  }
  for (const size_t index : finalists_)
    if (field_.candidates[index].alive()) ASSAY_TRY(bursts.judge_timed_output(instances, index));
  return {};
}

Result<std::unique_ptr<Confirming::Visit>> Confirming::visit() {
  auto visit = std::make_unique<Visit>(Visit{Instances(station_), Bursts(station_, field_)});
  ASSAY_TRY(visit->instances.commit());
  return visit;
}

Status Confirming::set_up(Visit& visit, size_t confirmer) {
  const uint64_t seed = kPlacementSeed + set_up_++;
  Crew& crew = station_.crew;
  const auto worker = [&crew, confirmer] { return crew.confirmer(confirmer); };
  ASSAY_TRY(visit.bursts.open(visit.instances, finalists_, worker, seed));
  ASSAY_TRY(Child * process, worker());
  ASSAY_TRY(prove_again(*process, visit.instances));
  if (process->alive()) return {};
  // Whoever killed it has its ending; the rest go on in a new process, on the same inputs.
  return visit.bursts.open(visit.instances, finalists_, worker, seed);
}

Status Confirming::time(Visit& visit) {
  Bursts& bursts = visit.bursts;
  ProcessSamples samples = empty_samples(field_, finalists_);
  samples.seed_commitment = visit.instances.commitment();
  if (station_.condition.spacing == measure::Spacing::chain) samples.bare_links.emplace();
  ASSAY_TRY(make_rounds(bursts, visit.instances, samples));
  ASSAY_TRY(bursts.unload());
  ASSAY_TRY(samples.seed, visit.instances.reveal());
  ASSAY_TRY(visit.instances.drop());
  timed_seconds_ += bursts.seconds();
  if (!bursts.cold_doubt().empty()) cold_doubt_ = bursts.cold_doubt();
  confirmation_.processes.push_back(std::move(samples));
  return {};
}

Result<Confirmation> Confirming::end() {
  ASSAY_TRY(base_.drop());
  return std::move(confirmation_);
}

}  // namespace assay::sweep
