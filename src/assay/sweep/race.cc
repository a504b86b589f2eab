#include "assay/stats/race.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/stats/plan_confirm.h"
#include "assay/stats/robust.h"
#include "assay/sweep/bursts.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/stages.h"

namespace assay::sweep {
namespace {

constexpr double kLooksAtOutputs = 0.1;  // Of each kernel, after each round.
constexpr int kLoneRounds =
    12;  // Of a kernel that has nobody to race: as many as the second look sees.

// What a user has without choosing: the default of the first stock provider that has one here.
std::string find_baseline(const Field& field) {
  for (const Candidate& candidate : field.candidates)
    if (candidate.alive() && candidate.proven && candidate.outcome.role == KernelRole::stock &&
        candidate.is_default)
      return candidate.outcome.id;
  return {};
}

std::string name_of(stats::RaceEnd end) { return std::string(stats::to_string(end)); }

// The user's entrants that are asked about: in a race the fastest of each of their kernels by its
// first burst, so that versions can be set side by side; elsewhere the fastest of all.
std::vector<size_t> asked_about(const Station& station, const Field& field,
                                const std::vector<size_t>& entrants,
                                const std::vector<stats::Burst>& first) {
  std::map<std::string, size_t> best;  // By family.
  for (size_t i = 0; i < entrants.size(); ++i) {
    const Candidate& candidate = field.candidates[entrants[i]];
    if (candidate.outcome.role != KernelRole::user || !first[i].clean) continue;
    const auto [found, is_new] =
        best.emplace(station.request.kind == "race" ? candidate.family : "", i);
    if (!is_new && first[i].ns < first[found->second].ns) found->second = i;
  }
  std::vector<size_t> asked;
  for (const auto& [family, entrant] : best) asked.push_back(entrant);
  return asked;
}

// The lap times of one race, by entrant.
class Laps {
 public:
  explicit Laps(size_t entrants) : per_launch_(entrants), clean_(entrants), rounds_(entrants) {}
  void add(size_t entrant, double ns, bool clean) {
    ++rounds_[entrant];
    clean_[entrant] += clean ? 1 : 0;
    if (clean) per_launch_[entrant].push_back(ns);
  }
  double median_us(size_t entrant) const {  // 0 without a clean burst.
    const auto& times = per_launch_[entrant];
    return times.empty() ? 0 : stats::median(times) * 1e-3;
  }
  int rounds(size_t entrant) const { return rounds_[entrant]; }
  int clean(size_t entrant) const { return clean_[entrant]; }

 private:
  std::vector<std::vector<double>> per_launch_;
  std::vector<int> clean_, rounds_;
};

std::vector<Standing> show(const Field& field, const std::vector<size_t>& entrants,
                           const std::vector<stats::RaceStanding>& standings, const Laps& laps) {
  std::vector<Standing> shown;
  for (const auto& standing : standings) {
    const auto entrant = static_cast<size_t>(standing.kernel);
    Standing row;
    row.label = field.candidates[entrants[entrant]].outcome.label();
    row.median_us = laps.median_us(entrant);
    row.ratio = standing.log_ratio ? std::exp(*standing.log_ratio) : 1.0;
    row.error = standing.standard_error;
    row.dropped_after = standing.dropped_after;
    shown.push_back(std::move(row));
  }
  return shown;
}

}  // namespace

Result<RaceResult> race(const Station& station, Field& field, double budget_seconds) {
  RaceResult result;
  const int64_t start = monotonic_ns();
  result.baseline = find_baseline(field);
  std::vector<size_t> entrants;
  for (size_t i = 0; i < field.candidates.size(); ++i)
    if (field.candidates[i].alive() && field.candidates[i].proven) entrants.push_back(i);
  if (entrants.empty()) return result;

  Instances instances(station);
  ASSAY_TRY(instances.commit());
  ASSAY_TRY(instances.make(InputKind::uniform));
  Bursts bursts(station, field);
  ASSAY_TRY(bursts.open(
      instances, entrants, [&] { return station.crew.runner(); }, 2));

  // The first call of each was cold: a burst's length is set from it, and again from stage 2.
  const auto set_launches = [&](size_t index) {
    Candidate& candidate = field.candidates[index];
    const bool isolated = station.condition.spacing == measure::Spacing::isolated;
    candidate.launches = isolated ? 1
                                  : measure::launches_per_burst(candidate.launch_ns, bursts.timer(),
                                                                station.crew.facts().threads,
                                                                std::max(1, bursts.sets() / 2));
  };
  std::ranges::for_each(entrants, set_launches);

  // Stage 2: one burst each; what is beyond three times the best is dropped.
  std::vector<bool> keep;
  for (const size_t index : entrants)
    keep.push_back(field.candidates[index].outcome.id == result.baseline);
  std::vector<stats::Burst> first(entrants.size(), stats::Burst{0, false});
  const auto spent = [&] { return bursts.seconds() > budget_seconds; };
  for (int attempt = 0; attempt < 3; ++attempt) {
    ASSAY_TRY(const auto round, bursts.round(entrants, "race"));
    for (const auto& sample : round.samples) {
      const auto at =
          static_cast<size_t>(std::ranges::find(entrants, sample.candidate) - entrants.begin());
      const double ns = bursts.launch_ns(sample);
      if (!first[at].clean || ns < first[at].ns) first[at] = {ns, true};
    }
    if (round.complete && (attempt >= 1 || spent()))
      break;  // Twice: the first burst of all warms caches and clocks.
  }
  // A user's kernel is asked about, however slow: of a family with tunables, its best point.
  const std::vector<size_t> users = asked_about(station, field, entrants, first);
  for (const size_t user : users) keep[user] = true;
  std::vector<bool> dropped(entrants.size(), false);
  if (!station.request.exhaustive)
    for (const int kernel : stats::drop_hopeless(first, keep))
      dropped[static_cast<size_t>(kernel)] = true;
  std::vector<size_t> runners, gone;
  std::vector<bool> runner_keep;
  std::vector<stats::Burst> seen;  // Of the runners.
  for (size_t i = 0; i < entrants.size(); ++i) {
    Candidate& candidate = field.candidates[entrants[i]];
    if (first[i].ns > 0) candidate.launch_ns = first[i].ns;
    set_launches(entrants[i]);
    if (dropped[i]) {
      candidate.outcome.race =
          RaceSummary{1, 1, first[i].ns * 1e-3, 1, "beyond three times the best"};
      gone.push_back(entrants[i]);
      ++result.record.dropped;
    } else if (candidate.alive()) {
      runners.push_back(entrants[i]);
      runner_keep.push_back(keep[i]);
      seen.push_back(first[i]);
    }
  }
  ASSAY_TRY(bursts.close(gone));

  // Stage 3: rounds, with looks.
  stats::RaceOptions options;
  if (station.request.exhaustive) options.z = HUGE_VAL;
  stats::Race racing(static_cast<int>(runners.size()), runner_keep, options);
  result.record.looks = options.looks;
  Laps laps(runners.size());
  std::vector<stats::Burst> row(runners.size());
  int failures = 0;
  // Alone it races nobody; how long it takes is still to be known.
  const auto lone_rounds_left = [&] {
    return runners.size() == 1 && laps.rounds(0) < kLoneRounds && !spent();
  };
  // Where the first look spent the budget, what it saw is the race's only round.
  if (spent()) {
    for (size_t i = 0; i < runners.size(); ++i)
      if (seen[i].clean) laps.add(i, seen[i].ns, true);
    racing.add_round(seen);
    racing.end_by_budget();
  }
  while (!runners.empty() && (!racing.ended() || lone_rounds_left())) {
    std::vector<size_t> who;
    for (size_t i = 0; i < runners.size(); ++i)
      if (racing.in_race(static_cast<int>(i)) && field.candidates[runners[i]].alive())
        who.push_back(runners[i]);
    if (who.empty()) break;
    ASSAY_TRY(const auto round, bursts.round(who, "race"));
    if (!round.complete && ++failures > 20 + 2 * static_cast<int>(runners.size()))
      return fail(ErrorCode::machine, "the race of {} could not complete a round in {} attempts",
                  station.problem.name(), failures);
    std::ranges::fill(row, stats::Burst{0, false});
    bool spoiled = false;
    for (const auto& sample : round.samples) {
      const auto at =
          static_cast<size_t>(std::ranges::find(runners, sample.candidate) - runners.begin());
      const double ns = bursts.launch_ns(sample);
      row[at] = {ns, sample.clean};
      laps.add(at, ns, sample.clean);
      spoiled |= !sample.clean;
    }
    ASSAY_TRY(bursts.judge_some(instances, who, kLooksAtOutputs));
    if (!round.complete) {
      if (spent() && racing.rounds() > 0) racing.end_by_budget();
      continue;
    }
    result.record.spoiled_rounds += spoiled ? 1 : 0;
    const auto out = racing.add_round(row);
    std::vector<size_t> closing;
    for (const int kernel : out) closing.push_back(runners[static_cast<size_t>(kernel)]);
    result.record.dropped += static_cast<int>(out.size());
    ASSAY_TRY(bursts.close(closing));
    station.observer.on_standings(racing.rounds(), show(field, runners, racing.standings(), laps));
    if (spent()) racing.end_by_budget();
  }

  // Timed outputs are verified too, after the fact.
  for (const size_t index : runners) ASSAY_TRY(bursts.judge_timed_output(instances, index));
  ASSAY_TRY(bursts.unload());
  ASSAY_TRY(instances.drop());

  const auto standings = racing.standings();
  for (const auto& standing : standings) {
    const auto runner = static_cast<size_t>(standing.kernel);
    Candidate& candidate = field.candidates[runners[runner]];
    RaceSummary summary{laps.rounds(runner), laps.clean(runner), laps.median_us(runner),
                        standing.dropped_after, ""};
    if (standing.dropped_after > 0) summary.reason = "clearly behind the leader";
    if (summary.median_us > 0) candidate.launch_ns = summary.median_us * 1e3;
    candidate.outcome.race = summary;
  }
  // Those that ended while they raced stand no more.
  std::vector<stats::RaceStanding> standing_still;
  for (const auto& standing : standings)
    if (field.candidates[runners[static_cast<size_t>(standing.kernel)]].alive())
      standing_still.push_back(standing);
  // The headline is about the best kernel that may make one, however far behind stock it is.
  const auto best = std::ranges::find_if(standing_still, [&](const auto& standing) {
    return may_be_candidate(station.request,
                            field.candidates[runners[static_cast<size_t>(standing.kernel)]]);
  });
  std::vector<stats::FinalistTraits> traits;
  for (size_t i = 0; i < runners.size(); ++i) {
    const KernelOutcome& outcome = field.candidates[runners[i]].outcome;
    const bool asked =
        std::ranges::any_of(users, [&](size_t user) { return entrants[user] == runners[i]; });
    const bool headline = best != standing_still.end() && static_cast<size_t>(best->kernel) == i;
    traits.push_back(
        {outcome.role == KernelRole::stock, outcome.id == result.baseline || asked || headline});
  }
  const std::vector<int> finalists = stats::choose_finalists(
      standing_still, traits,
      station.request.exhaustive ? static_cast<int>(runners.size()) : stats::kFurtherSurvivors);
  for (const int kernel : finalists)
    result.finalists.push_back(field.candidates[runners[static_cast<size_t>(kernel)]].outcome.id);
  if (!result.finalists.empty()) result.leader = result.finalists.front();
  if (best != standing_still.end())
    result.candidate = field.candidates[runners[static_cast<size_t>(best->kernel)]].outcome.id;
  for (const int kernel : finalists) {
    const Candidate& candidate = field.candidates[runners[static_cast<size_t>(kernel)]];
    result.round_ns += candidate.launch_ns * candidate.launches + bursts.overhead_ns();
  }
  if (result.candidate.empty()) result.candidate = result.leader;
  result.spread = stats::confirm_spread(standing_still, finalists);
  result.record.rounds = runners.size() == 1 ? laps.rounds(0) : racing.rounds();
  result.record.end = racing.ended() ? name_of(*racing.ended()) : "no kernel left";
  result.record.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
  result.timed_seconds = bursts.seconds();
  result.cold_doubt = bursts.cold_doubt();
  return result;
}

}  // namespace assay::sweep
