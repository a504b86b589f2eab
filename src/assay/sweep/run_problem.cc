#include "assay/sweep/run_problem.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "assay/base/operation_name.h"
#include "assay/op/operation.h"
#include "assay/record/ceilings.h"
#include "assay/record/conclude.h"
#include "assay/record/doubts.h"
#include "assay/sweep/nothing_to_race.h"
#include "assay/sweep/run_facts.h"
#include "assay/sweep/stages/ask_again.h"
#include "assay/sweep/stages/build.h"
#include "assay/sweep/stages/count.h"
#include "assay/sweep/stages/find.h"
#include "assay/sweep/stages/own_clock.h"
#include "assay/sweep/stages/profile.h"
#include "assay/sweep/stages/prove.h"
#include "assay/sweep/stages/race.h"
#include "assay/sweep/stages/race_result.h"
#include "assay/sweep/stages/rank.h"

namespace assay::sweep {
namespace {

// Each further race is without a kernel that fell in the one before: few do so on one problem.
constexpr int kMostRaces = 6;
constexpr int kFurtherLeaders = 2;

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
  record.race_class = {
      std::string(to_string(station.request.question.race_class.preparation)),
      std::string(to_string(station.request.question.race_class.dependent_launch))};
  if (const auto operation = find_operation(problem.operation())) {
    const Work work = (*operation)->work(problem);
    record.flops = work.flops;
    record.bytes = work.bytes();
  }
  if (is_defined_by_user(problem.operation()))
    record.findings.push_back(
        {"defined_by_user", fmt::format("{} is no operation of assay's: the user's own function "
                                        "says what is right, within the definition's own tolerance",
                                        operation_title(problem.operation()))});
  return record;
}

// A time below what physics allows is a violation, not a win.
void refuse_impossible(Field& field, double floor_seconds) {
  if (floor_seconds <= 0) return;
  for (Candidate& candidate : field.candidates) {
    if (!candidate.alive() || !candidate.outcome.race || candidate.outcome.race->median_us <= 0)
      continue;
    if (candidate.outcome.race->median_us * 1e-6 < floor_seconds)
      candidate.outcome.ending = ending::Violation{
          "below_physics", fmt::format("{:.2f} us a launch, where the device needs at least "
                                       "{:.2f} us to read the operands or do the arithmetic",
                                       candidate.outcome.race->median_us, floor_seconds * 1e6)};
  }
}

// Proofs that an earlier process finished are not repeated.
void take_over(Field& field, std::map<std::string, Journal::Proof> proofs) {
  for (Candidate& candidate : field.candidates) {
    const auto found = proofs.find(candidate.outcome.id);
    if (found == proofs.end()) continue;
    Journal::Proof& proof = found->second;
    // Its own doing, or the GPU's.
    if (std::holds_alternative<ending::DeviceLost>(proof.outcome.ending)) continue;
    // What was built then must be what is built now, or it was another kernel.
    if (candidate.built && proof.outcome.artifact_hash != candidate.outcome.artifact_hash) continue;
    candidate.take_over(std::move(proof.outcome), proof.launch_ns);
  }
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
void add_launch_bound(Field& field, const LaunchBound& bound) {
  for (Candidate& candidate : field.candidates) {
    auto& findings = candidate.outcome.findings;
    if (candidate.outcome.id != bound.id ||
        std::ranges::find(findings, "launch_bound", &Finding::code) != findings.end())
      continue;
    findings.push_back(
        {"launch_bound", fmt::format("adds {:.2g} us to a bare link of {:.2g} us: under half of it "
                                     "is no time to compare by; try spacing=back_to_back",
                                     std::max(bound.kernel_us, 0.0), bound.link_us)});
  }
}

// What samples hold against a claim is a finding on who made it, or on all.
void add_doubt(ProblemRecord& record, Field& field, const Doubt& doubt) {
  std::vector<Finding>* findings = doubt.id.empty() ? &record.findings : nullptr;
  for (Candidate& candidate : field.candidates)
    if (candidate.outcome.id == doubt.id) findings = &candidate.outcome.findings;
  if (findings == nullptr) return;
  if (std::ranges::find(*findings, doubt.finding.code, &Finding::code) == findings->end())
    findings->push_back(doubt.finding);
}

// Of the last confirmation alone: the counts of earlier ones are below its.
void say_earlier(ProblemRecord& record, const Confirmation& confirmation,
                 const std::string& uncounted) {
  constexpr const char *kBefore = "confirmed_before", *kUncounted = "confirmations_uncounted";
  std::erase_if(record.findings, [&](const Finding& finding) {
    return finding.code == kBefore || finding.code == kUncounted;
  });
  if (!uncounted.empty())
    record.findings.push_back(
        {kUncounted, "how often this kernel was confirmed before is not known here: " + uncounted});
  if (confirmation.earlier > 0)
    record.findings.push_back(
        {kBefore, fmt::format("the same kernel was confirmed {} time{} before on this machine, and "
                              "the interval is wider for it: whoever tries often enough is lucky "
                              "once",
                              confirmation.earlier, confirmation.earlier == 1 ? "" : "s")});
}

void fill_kernels(ProblemRecord& record, Field field) {
  record.kernels.clear();
  record.kernels.reserve(field.candidates.size());
  for (Candidate& candidate : field.candidates)
    record.kernels.push_back(std::move(candidate.outcome));
  for (const auto& [reason, refusals] : field.refusals)
    record.refusals[std::string(to_string(reason))] = {refusals.count, refusals.example};
}

}  // namespace

ProblemRun::ProblemRun(Station station) : station_(std::move(station)) {
  record_ = begin_record(station_);
}

ProblemRun::~ProblemRun() = default;

// The field as it was built and proven; what an earlier process of the run did is not repeated.
Status ProblemRun::prove_field(const Quarantine& quarantine) {
  ASSAY_TRY(field_, find_candidates(station_));
  ASSAY_TRY(auto proofs, station_.journal.proofs(station_.problem.name()));
  const bool goes_on = !proofs.empty();
  const auto build_field = [&]() -> Status {
    ASSAY_TRY(build(station_, field_));
    quarantine.keep_out(field_);
    sweep::take_over(field_, std::move(proofs));
    return {};
  };
  if (!goes_on) return prove(station_, field_, build_field);
  // There may be nothing left to prove.
  ASSAY_TRY(build_field());
  return prove(station_, field_, [] { return Status(); });
}

Status ProblemRun::prepare(const Quarantine& quarantine) {
  ASSAY_TRY(prove_field(quarantine));
  record_.no_winner = std::exchange(field_.unprovable, {});
  if (record_.no_winner.empty()) record_.no_winner = why_no_race(station_.request, field_);
  if (!record_.no_winner.empty()) return {};
  raced_ = true;
  ASSAY_TRY(auto earlier, take_over_race(station_.journal, station_.problem.name(), field_));
  next_ = Next::race;
  if (!earlier) return {};
  race_ = std::move(*earlier);
  record_.race = race_.record;
  alive_ = count_alive(field_);
  next_ = race_.finalists.empty() ? Next::finish : Next::confirm;
  return {};
}

Status ProblemRun::race_field(double budget_seconds) {
  record_.confirmations.clear();
  record_.own_clock.reset();
  // What samples said that stand no more.
  const auto is_doubt = [](const Finding& finding) { return is_of_samples(finding.code); };
  std::erase_if(record_.findings, is_doubt);
  for (Candidate& candidate : field_.candidates)
    std::erase_if(candidate.outcome.findings, is_doubt);
  leaders_ = 0;
  while (races_ < kMostRaces) {
    ++races_;
    const auto before = count_alive(field_);
    const std::vector<size_t> company = standing();
    ASSAY_TRY(race_, sweep::race(station_, field_, budget_seconds));
    timed_seconds_ += race_.timed_seconds;
    record_.race = race_.record;
    refuse_impossible(field_, floor_seconds(station_.crew, station_.problem, station_.condition,
                                            record_.flops, record_.bytes));
    ASSAY_TRY(const bool back, ask_fallen_again(company, race_.record.rounds));
    alive_ = count_alive(field_);
    // One that fell may have led, and honest kernels have been dropped for it: once more without
    // it.
    if (alive_ == before && !back) break;
  }
  const bool confirms = station_.request.effort.confirm && !race_.finalists.empty();
  next_ = confirms ? Next::confirm : Next::finish;
  if (!confirms) return {};
  return keep_race(station_.journal, station_.problem.name(), field_, race_);
}

std::vector<size_t> ProblemRun::standing() const {
  std::vector<size_t> who;
  for (size_t i = 0; i < field_.candidates.size(); ++i)
    if (field_.candidates[i].alive() && field_.candidates[i].proven) who.push_back(i);
  return who;
}

Result<bool> ProblemRun::ask_fallen_again(const std::vector<size_t>& company, int rounds) {
  const std::vector<size_t> before = standing();
  ASSAY_TRY(std::vector<Finding> findings, ask_again(station_, field_, company, rounds));
  for (Finding& finding : findings) {
    const auto same = [&](const Finding& other) { return other.code == finding.code; };
    if (std::ranges::none_of(record_.findings, same))
      record_.findings.push_back(std::move(finding));
  }
  return std::ranges::any_of(
      standing(), [&](size_t index) { return std::ranges::find(before, index) == before.end(); });
}

Status ProblemRun::begin_confirmation() {
  company_.clear();
  for (size_t i = 0; i < field_.candidates.size(); ++i)
    if (std::ranges::find(race_.finalists, field_.candidates[i].outcome.id) !=
        race_.finalists.end())
      company_.push_back(i);
  confirming_.emplace(station_, field_, race_);
  return confirming_->begin();
}

// By the widest of the candidate's pairs that the race saw close together: of others the word is
// certain without. The race's samples are none of the confirmation's.
int ProblemRun::extend_confirmation(double budget_seconds) {
  constexpr double kCloseMargins = 3;
  const double close = kCloseMargins * std::log1p(station_.request.effort.margin);
  show_finalists(record_, field_, race_);
  const RunOptions options = options_of(station_.request, station_.crew, 0);
  const auto raced_us = [&](const std::string& id) {
    const KernelOutcome* kernel = record_.find(id);
    return kernel != nullptr && kernel->race ? kernel->race->median_us : 0;
  };
  stats::SeenWidth widest;
  for (const PairVerdict& pair : conclude(record_, confirming_->so_far(), options).against_stock) {
    const double ours = raced_us(pair.candidate), theirs = raced_us(pair.other);
    if (ours <= 0 || theirs <= 0 || std::fabs(std::log(ours / theirs)) > close ||
        !pair.verdict.has_interval())
      continue;
    const stats::SeenWidth seen{std::log(pair.verdict.high / pair.verdict.low) / 2,
                                stats::shared_half_width(pair.verdict.systematic),
                                pair.verdict.processes};
    if (seen.half_width > widest.half_width) widest = seen;
  }
  return confirming_->extend(widest, budget_seconds);
}

Status ProblemRun::conclude_confirmation() {
  ASSAY_TRY(Confirmation confirmation, confirming_->end());
  timed_seconds_ += confirming_->timed_seconds();
  if (!confirming_->cold_doubt().empty()) race_.cold_doubt = confirming_->cold_doubt();
  const std::string uncounted = confirming_->uncounted();
  confirming_.reset();
  ASSAY_TRY(const bool back, ask_fallen_again(company_, confirmation.rounds));
  show_finalists(record_, field_, race_);
  const RunOptions options = options_of(station_.request, station_.crew, 0);
  confirmation.conclusion = conclude(record_, confirmation, options);
  for (const Doubt& doubt : find_doubts(record_, confirmation, options))
    add_doubt(record_, field_, doubt);
  for (const LaunchBound& bound : find_launch_bound(confirmation)) add_launch_bound(field_, bound);
  say_earlier(record_, confirmation, uncounted);
  record_.confirmations.push_back(std::move(confirmation));
  next_ = Next::finish;
  if ((back || count_alive(field_) != alive_) && races_ < kMostRaces) {
    next_ = Next::race;
    return {};
  }
  // A finalist shown to be faster than the leader leads one further confirmation with new seeds.
  const std::string next = next_leader(record_.confirmations.back().conclusion);
  if (next.empty()) return {};
  const auto leads = std::ranges::find_if(
      field_.candidates, [&](const Candidate& candidate) { return candidate.outcome.id == next; });
  if (++leaders_ > kFurtherLeaders) {
    record_.findings.push_back(
        {"winner_overtaken",
         fmt::format("{} was faster than the winner in the last of {} confirmations, each with "
                     "another leader: ratios differ between runs here by more than their "
                     "intervals say",
                     leads == field_.candidates.end() ? next : leads->outcome.label(),
                     record_.confirmations.size())});
    return {};
  }
  put_in_front(race_, next,
               leads != field_.candidates.end() && may_be_candidate(station_.request, *leads));
  next_ = Next::confirm;
  return {};
}

std::string ProblemRun::why_no_winner() const {
  if (race_.finalists.empty()) return "no kernel was proven right and timed";
  if (!station_.request.effort.confirm) return {};
  const bool is_timed =
      !record_.confirmations.empty() && !record_.decisive()->conclusion.times.empty();
  return is_timed ? "something is held against each kernel that got through: see their findings"
                  : "no finalist survived its confirmation";
}

Status ProblemRun::race_at_own_clock(const GpuWindow& gpu) {
  const PairVerdict* pair = pair_at_own_clock(record_);
  if (pair == nullptr || !is_capped(gpu)) return {};
  const auto place = [&](const std::string& id) {
    return static_cast<size_t>(
        std::ranges::find(field_.candidates, id,
                          [](const Candidate& candidate) { return candidate.outcome.id; }) -
        field_.candidates.begin());
  };
  const size_t candidate = place(pair->candidate), other = place(pair->other);
  if (std::max(candidate, other) >= field_.candidates.size()) return {};
  ASSAY_TRY(record_.own_clock, sweep::race_at_own_clock(station_, field_, candidate, other));
  if (count_alive(field_) != alive_ && races_ < kMostRaces) next_ = Next::race;
  return {};
}

Result<ProblemRecord> ProblemRun::finish(const std::vector<Ceiling>& ceilings,
                                         const std::optional<GpuWindow>& gpu) {
  record_.ranking = std::move(field_.ranking);
  if (!raced_) {
    fill_kernels(record_, std::move(field_));
    return std::move(record_);
  }
  if (station_.request.effort.count_events) {
    ASSAY_TRY(record_.counts, count_events(station_, field_, race_.finalists));
    ASSAY_TRY(record_.profiles, profile_kernels(station_, field_, race_.finalists));
  }
  record_.gpu = gpu;
  if (gpu)
    for (Finding& finding : findings_of(*gpu)) record_.findings.push_back(std::move(finding));
  if (!race_.cold_doubt.empty()) record_.findings.push_back({"cache_unproven", race_.cold_doubt});
  fill_kernels(record_, std::move(field_));
  if (auto finding = crowded_out(record_)) record_.findings.push_back(std::move(*finding));
  if (record_.own_clock)
    if (auto finding = finding_of(*record_.own_clock, record_))
      record_.findings.push_back(*finding);
  if (record_.confirmations.empty() || record_.decisive()->conclusion.winner.empty())
    record_.no_winner = why_no_winner();
  if (const KernelOutcome* winner = record_.winner()) {
    const Roof roof = roof_of(record_, ceilings);
    const double us = record_.decisive()->conclusion.median_us(winner->id);
    if (us > 0 && roof.seconds > 0) {
      record_.ceiling_share = roof.seconds * 1e6 / us;
      record_.ceiling = roof.ceiling;
      record_.ceiling_value = roof.value;
    }
  }
  return std::move(record_);
}

}  // namespace assay::sweep
