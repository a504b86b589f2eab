#include "assay/sweep/run_problem.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "assay/measure/ceilings.h"
#include "assay/op/operation.h"
#include "assay/record/conclude.h"
#include "assay/sweep/run_facts.h"

namespace assay::sweep {
namespace {

// Each further race is without a kernel that fell in the one before: few do so on one problem.
constexpr int kMostRaces = 6;

assay::Condition named(const measure::Condition& condition) {
  return {std::string(to_string(condition.cache)), std::string(to_string(condition.spacing)),
          std::string(to_string(condition.launch))};
}

ProblemRecord begin_record(const Station& station) {
  ProblemRecord record;
  const Problem& problem = station.problem;
  record.name = problem.name();
  record.key = problem.key();
  record.operation = problem.operation();
  record.role = problem.role();
  record.weight = problem.weight();
  record.problem = problem.to_json();
  record.condition = named(station.condition);
  record.race_class = {std::string(to_string(station.request.race_class.preparation)),
                       std::string(to_string(station.request.race_class.dependent_launch))};
  if (const auto operation = find_operation(problem.operation())) {
    const Work work = (*operation)->work(problem);
    record.flops = work.flops;
    record.bytes = work.bytes();
  }
  return record;
}

double ceiling_of(const std::vector<Ceiling>& ceilings, std::string_view name) {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.name == name) return ceiling.value;
  return 0;
}

std::string flops_ceiling(const Problem& problem) {
  const Operand* a = problem.find_operand("a");
  return a == nullptr ? std::string() : fmt::format("flops_{}", to_string(a->dtype));
}

// Seconds that the machine's ceilings allow at best, and which of them is the nearer.
std::pair<double, std::string> roofline(const ProblemRecord& record, const Problem& problem,
                                        const std::vector<Ceiling>& ceilings, bool cold) {
  const double read = ceiling_of(ceilings, "read");
  std::string name = flops_ceiling(problem);
  double peak = ceiling_of(ceilings, name);
  if (peak <= 0) peak = ceiling_of(ceilings, name = "flops_f32");
  const double by_bytes = cold && read > 0 ? record.bytes / read : 0;
  const double by_flops = peak > 0 ? record.flops / peak : 0;
  return by_bytes >= by_flops ? std::pair(by_bytes, std::string("read"))
                              : std::pair(by_flops, name);
}

// A time below what physics allows is a violation, not a win.
void refuse_impossible(Field& field, double floor_seconds) {
  if (floor_seconds <= 0) return;
  for (Candidate& candidate : field.candidates) {
    if (!candidate.alive() || !candidate.outcome.race || candidate.outcome.race->median_us <= 0)
      continue;
    if (candidate.outcome.race->median_us * 1e-6 < floor_seconds)
      candidate.outcome.ending = ending::Violation{
          "below_physics", fmt::format("{:.2f} us a launch, where any core needs at least {:.2f} "
                                       "us to read the operands or do the arithmetic",
                                       candidate.outcome.race->median_us, floor_seconds * 1e6)};
  }
}

// Proofs that an earlier process finished are not repeated.
void take_over(Field& field, std::map<std::string, Journal::Proof> proofs) {
  for (Candidate& candidate : field.candidates) {
    const auto found = proofs.find(candidate.outcome.id);
    if (found == proofs.end()) continue;
    Journal::Proof& proof = found->second;
    // What was built then must be what is built now, or it was another kernel.
    if (candidate.built && proof.outcome.artifact_hash != candidate.outcome.artifact_hash) continue;
    // The same, but shared with others of its family.
    proof.outcome.metadata = candidate.outcome.metadata;
    if (candidate.built) proof.outcome.artifact_facts = candidate.outcome.artifact_facts;
    candidate.launch_ns = proof.launch_ns;
    candidate.outcome = std::move(proof.outcome);
    candidate.proven = candidate.alive();
  }
}

// Why there is nothing to race for; empty where there is something.
std::string why_no_race(const Request& request, const Field& field) {
  if (request.kind != "race" || request.kernels.empty()) return {};
  std::string why = "the kernel that the race is about takes no part";
  for (const Candidate& candidate : field.candidates) {
    if (!is_raced_about(request, candidate)) continue;
    if (candidate.alive()) return {};
    why = fmt::format("{} {}", candidate.outcome.name, ending_sentence(candidate.outcome.ending));
  }
  return why;
}

std::ptrdiff_t count_alive(const Field& field) {
  return std::ranges::count_if(field.candidates, &Candidate::alive);
}

// What conclusions are drawn from: of the finalists, as they stand.
void show_finalists(ProblemRecord& record, const Field& field, const RaceResult& race) {
  record.kernels.clear();
  for (const Candidate& candidate : field.candidates)
    if (std::ranges::find(race.finalists, candidate.outcome.id) != race.finalists.end())
      record.kernels.push_back(candidate.outcome);
}

// The field's end.
void fill_kernels(ProblemRecord& record, Field field) {
  record.kernels.clear();
  record.kernels.reserve(field.candidates.size());
  for (Candidate& candidate : field.candidates)
    record.kernels.push_back(std::move(candidate.outcome));
  for (const auto& [reason, refusals] : field.refusals)
    record.refusals[std::string(to_string(reason))] = {refusals.count, refusals.example};
}

// A finalist shown to be faster than the leader leads one further confirmation with new seeds.
Status confirm_leaders(const Station& station, Field& field, RaceResult& race,
                       double budget_seconds, ProblemRecord& record, Totals& totals) {
  const RunOptions options = options_of(station.request, station.crew, budget_seconds);
  for (int attempt = 0; attempt < 2 && !race.finalists.empty(); ++attempt) {
    ASSAY_TRY(ConfirmResult confirmed, confirm(station, field, race, budget_seconds * 0.7));
    totals.timed_seconds += confirmed.timed_seconds;
    if (!confirmed.cold_doubt.empty()) race.cold_doubt = confirmed.cold_doubt;
    show_finalists(record, field, race);
    confirmed.confirmation.conclusion = conclude(record, confirmed.confirmation, options);
    record.confirmations.push_back(std::move(confirmed.confirmation));
    const auto& ahead = record.confirmations.back().conclusion.ahead;
    if (ahead.empty()) break;
    station.crew.dismiss_confirmers();
    race.leader = ahead.front();
    std::erase(race.finalists, race.leader);
    race.finalists.insert(race.finalists.begin(), race.leader);
  }
  return {};
}

}  // namespace

Result<ProblemRecord> run_problem(const Station& station, const Quarantine& quarantine,
                                  double budget_seconds, Totals& totals,
                                  std::vector<Ceiling>& window) {
  ProblemRecord record = begin_record(station);
  ASSAY_TRY(Field field, find_candidates(station));
  ASSAY_TRY(build(station, field));
  quarantine.keep_out(field);
  ASSAY_TRY(auto proofs, station.journal.proofs(station.problem.name()));
  take_over(field, std::move(proofs));
  ASSAY_TRY(prove(station, field));
  std::string why = std::exchange(field.unprovable, {});
  if (why.empty()) why = why_no_race(station.request, field);
  if (!why.empty()) {
    fill_kernels(record, std::move(field));
    record.no_winner = std::move(why);
    return record;
  }
  ASSAY_TRY(const auto ceilings, measure_ceilings(station.crew));
  window = ceilings;
  const bool cold = station.condition.cache != measure::Cache::warm;
  const auto [roof_seconds, roof_name] = roofline(record, station.problem, ceilings, cold);
  const Operand* first =
      station.problem.operands().empty() ? nullptr : &station.problem.operands().front();
  // Known for cores; a card's datasheet is not.
  const double floor_seconds =
      station.request.device.empty()
          ? measure::physics_floor_seconds(record.flops, record.bytes,
                                           first == nullptr ? DType::f32 : first->dtype,
                                           station.crew.facts().threads)
          : 0;
  RaceResult race;
  for (int attempt = 1; attempt <= kMostRaces; ++attempt) {
    const auto alive = count_alive(field);
    record.confirmations.clear();
    ASSAY_TRY(race, sweep::race(station, field, budget_seconds * 0.3));
    totals.timed_seconds += race.timed_seconds;
    record.race = race.record;
    refuse_impossible(field, floor_seconds);
    if (station.request.confirm && (count_alive(field) == alive || attempt == kMostRaces))
      ASSAY_TRY(confirm_leaders(station, field, race, budget_seconds, record, totals));
    // One that fell may have led, and honest kernels have been dropped for it: once more without
    // it.
    if (count_alive(field) == alive) break;
    station.crew.dismiss_confirmers();
  }
  if (station.request.count_events) {
    ASSAY_TRY(record.counts, count_events(station, field, race.finalists));
  }
  if (!race.cold_doubt.empty()) record.findings.push_back({"cache_unproven", race.cold_doubt});
  fill_kernels(record, std::move(field));
  if (record.confirmations.empty() || record.decisive()->conclusion.winner.empty())
    record.no_winner = race.finalists.empty()    ? "no kernel was proven right and timed"
                       : station.request.confirm ? "no finalist survived its confirmation"
                                                 : "";
  if (const KernelOutcome* winner = record.winner()) {
    const double us = record.decisive()->conclusion.median_us(winner->id);
    if (us > 0 && roof_seconds > 0) {
      record.ceiling_share = roof_seconds * 1e6 / us;
      record.ceiling = roof_name;
    }
  }
  return record;
}

}  // namespace assay::sweep
