#include "assay/sweep/stages/race.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/stats/plan_confirm.h"
#include "assay/stats/race.h"
#include "assay/stats/robust.h"
#include "assay/sweep/stages/mean_errors.h"
#include "assay/sweep/stages/station.h"
#include "assay/timing/bursts.h"

namespace assay::sweep {
namespace {

constexpr double kLooksAtOutputs = 0.1;  // Of each kernel, after each round.
// Clean ones of a kernel that has nobody to race: as many as the second look sees.
constexpr int kLoneRounds = 12;

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
        best.emplace(station.request.question.kind == "race" ? candidate.family : "", i);
    if (!is_new && first[i].ns < first[found->second].ns) found->second = i;
  }
  std::vector<size_t> asked;
  for (const auto& [family, entrant] : best) asked.push_back(entrant);
  return asked;
}

// The lap times of one race, by entrant.
class Laps {
 public:
  explicit Laps(size_t entrants)
      : per_launch_(entrants), disturbed_(entrants), clean_(entrants), rounds_(entrants) {}
  void add(size_t entrant, double ns, bool clean) {
    ++rounds_[entrant];
    clean_[entrant] += clean ? 1 : 0;
    (clean ? per_launch_ : disturbed_)[entrant].push_back(ns);
  }
  double median_us(size_t entrant) const {  // 0 without a clean burst.
    const auto& times = per_launch_[entrant];
    return times.empty() ? 0 : stats::median(times) * 1e-3;
  }
  // Of whom no burst was clean: why it has no time. Empty of others.
  std::string why_untimed(size_t entrant) const {
    const auto& times = disturbed_[entrant];
    if (clean(entrant) > 0 || times.empty()) return {};
    return fmt::format(
        "no clean round of {}: others had its cores meanwhile, or it used more "
        "threads than cores; with that a launch took {:.4g} us",
        times.size(), stats::median(times) * 1e-3);
  }
  int rounds(size_t entrant) const { return rounds_[entrant]; }
  int clean(size_t entrant) const { return clean_[entrant]; }

 private:
  std::vector<std::vector<double>> per_launch_, disturbed_;
  std::vector<int> clean_, rounds_;
};

std::vector<Standing> show(const Field& field, const std::vector<size_t>& entrants,
                           const std::vector<stats::RaceStanding>& standings, const Laps& laps) {
  std::vector<Standing> shown;
  for (const auto& standing : standings) {
    const auto entrant = static_cast<size_t>(standing.kernel);
    Standing row;
    const KernelOutcome& kernel = field.candidates[entrants[entrant]].outcome;
    row.label = kernel.label();
    row.role = kernel.role;
    row.median_us = laps.median_us(entrant);
    row.ratio = standing.log_ratio ? std::exp(*standing.log_ratio) : 1.0;
    row.error = standing.standard_error;
    row.dropped_after = standing.dropped_after;
    shown.push_back(std::move(row));
  }
  return shown;
}

// One race, from the first burst of each kernel to who is to be confirmed.
class RaceRun {
 public:
  RaceRun(const Station& station, Field& field, double budget_seconds)
      : station_(station),
        field_(field),
        budget_seconds_(budget_seconds),
        instances_(station),
        bursts_(station, field, Crew::kRace) {}

  Result<RaceResult> run() {
    const int64_t start = monotonic_ns();
    result_.baseline = find_baseline(field_);
    // Of a race that was begun before, nothing is left.
    for (Candidate& candidate : field_.candidates) candidate.outcome.race.reset();
    for (size_t i = 0; i < field_.candidates.size(); ++i)
      if (field_.candidates[i].alive() && field_.candidates[i].proven) entrants_.push_back(i);
    if (entrants_.empty()) return std::move(result_);
    ASSAY_TRY(open());
    ASSAY_TRY(look_first());
    ASSAY_TRY(drop_hopeless());
    ASSAY_TRY(run_rounds());
    // Timed outputs are verified too, after the fact.
    for (const size_t index : runners_) ASSAY_TRY(bursts_.judge_timed_output(instances_, index));
    judge_mean_errors(station_, field_);
    ASSAY_TRY(bursts_.unload());
    ASSAY_TRY(instances_.drop());
    sum_up();
    choose();
    result_.record.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
    result_.timed_seconds = bursts_.seconds();
    result_.cold_doubt = bursts_.cold_doubt();
    return std::move(result_);
  }

 private:
  bool exhaustive() const { return station_.request.effort.exhaustive; }
  bool spent() const { return bursts_.seconds() > budget_seconds_; }
  Candidate& runner(size_t place) { return field_.candidates[runners_[place]]; }

  static size_t place_of(const std::vector<size_t>& all, size_t candidate) {
    return static_cast<size_t>(std::ranges::find(all, candidate) - all.begin());
  }

  Status open() {
    ASSAY_TRY(instances_.commit());
    ASSAY_TRY(instances_.make(InputKind::uniform));
    ASSAY_TRY(bursts_.open(instances_, entrants_, 2));
    for (const size_t index : entrants_) set_launches(index);
    return {};
  }

  // The first call of each was cold: a burst's length is set from it, and again from the first
  // look.
  void set_launches(size_t index) {
    Candidate& candidate = field_.candidates[index];
    const bool isolated = station_.condition.spacing == measure::Spacing::isolated;
    candidate.launches = isolated
                             ? 1
                             : measure::launches_per_burst(candidate.launch_ns, bursts_.timer(),
                                                           station_.crew.facts().threads,
                                                           std::max(1, bursts_.sets() / 2));
  }

  // A burst each, and another: the first burst of all warms caches and clocks.
  Status look_first() {
    first_.assign(entrants_.size(), stats::Burst{0, false});
    for (int attempt = 0; attempt < 3; ++attempt) {
      ASSAY_TRY(const auto round, bursts_.round(entrants_, "race"));
      for (const auto& sample : round.samples) {
        stats::Burst& best = first_[place_of(entrants_, sample.candidate)];
        const double ns = bursts_.launch_ns(sample);
        if (!best.clean || ns < best.ns) best = {ns, true};
      }
      if (round.complete && (attempt >= 1 || spent())) break;
    }
    return {};
  }

  // Whose kernels users' are held against, as rivals_of() (record/conclude.h) has it.
  KernelRole rivals() const {
    const bool any = std::ranges::any_of(field_.candidates, [](const Candidate& candidate) {
      return candidate.outcome.role == KernelRole::stock;
    });
    return any ? KernelRole::stock : KernelRole::ours;
  }

  // Of the entrants, by the first look.
  std::vector<size_t> best_two_rivals() const {
    constexpr size_t kCompared = 2;  // docs/method.md.
    std::vector<size_t> found;
    const KernelRole role = rivals();
    for (size_t i = 0; i < entrants_.size(); ++i)
      if (field_.candidates[entrants_[i]].outcome.role == role && first_[i].ns > 0)
        found.push_back(i);
    std::ranges::sort(found, {}, [&](size_t place) { return first_[place].ns; });
    found.resize(std::min(found.size(), kCompared));
    return found;
  }

  // What is beyond three times the best takes no part in the rounds, unless it is asked about: a
  // user's kernel is, however slow, and of a family with tunables its best point.
  Status drop_hopeless() {
    users_ = asked_about(station_, field_, entrants_, first_);
    // Nobody has looked at these bursts: who pretends to be fast drops no stock kernel of rank.
    const std::vector<size_t> best_rivals = best_two_rivals();
    std::vector<bool> keep, dropped(entrants_.size(), false);
    for (const size_t index : entrants_)
      keep.push_back(field_.candidates[index].outcome.id == result_.baseline);
    for (const size_t user : users_) keep[user] = true;
    for (const size_t place : best_rivals) keep[place] = true;
    if (!exhaustive())
      for (const int kernel : stats::drop_hopeless(first_, keep))
        dropped[static_cast<size_t>(kernel)] = true;
    std::vector<size_t> gone;
    for (size_t i = 0; i < entrants_.size(); ++i) {
      Candidate& candidate = field_.candidates[entrants_[i]];
      if (first_[i].ns > 0) candidate.launch_ns = first_[i].ns;
      set_launches(entrants_[i]);
      if (dropped[i]) {
        candidate.outcome.race =
            RaceSummary{1, 1, first_[i].ns * 1e-3, 1, "beyond three times the best"};
        gone.push_back(entrants_[i]);
        ++result_.record.dropped;
      } else if (candidate.alive()) {
        runners_.push_back(entrants_[i]);
        is_kept_.push_back(keep[i]);
        seen_.push_back(first_[i]);
      }
    }
    return bursts_.close(gone);
  }

  // Rounds, with looks.
  Status run_rounds() {
    stats::RaceOptions options;
    if (exhaustive()) options.z = HUGE_VAL;
    result_.record.looks = options.looks;
    racing_.emplace(static_cast<int>(runners_.size()), is_kept_, options);
    laps_.emplace(runners_.size());
    // Where the first look spent the budget, what it saw is the race's only round.
    if (spent()) {
      for (size_t i = 0; i < runners_.size(); ++i)
        if (seen_[i].clean) laps_->add(i, seen_[i].ns, true);
      racing_->add_round(seen_);
      racing_->end_by_budget();
    }
    // Alone it races nobody; how long it takes is still to be known.
    const auto lone_rounds_left = [&] {
      return runners_.size() == 1 && laps_->clean(0) < kLoneRounds && !spent();
    };
    while (!runners_.empty() && (!racing_->ended() || lone_rounds_left())) {
      std::vector<size_t> who;
      for (size_t i = 0; i < runners_.size(); ++i)
        if (racing_->in_race(static_cast<int>(i)) && runner(i).alive()) who.push_back(runners_[i]);
      if (who.empty()) break;
      ASSAY_TRY(run_round(who));
    }
    return {};
  }

  Status run_round(const std::vector<size_t>& who) {
    ASSAY_TRY(const auto round, bursts_.round(who, "race"));
    if (!round.complete && ++failures_ > 20 + 2 * static_cast<int>(runners_.size()))
      return fail(ErrorCode::machine, "the race of {} could not complete a round in {} attempts",
                  station_.problem.name(), failures_);
    std::vector<stats::Burst> row(runners_.size(), stats::Burst{0, false});
    bool spoiled = false;
    for (const auto& sample : round.samples) {
      const size_t at = place_of(runners_, sample.candidate);
      const double ns = bursts_.launch_ns(sample);
      row[at] = {ns, sample.clean};
      laps_->add(at, ns, sample.clean);
      spoiled |= !sample.clean;
    }
    ASSAY_TRY(bursts_.judge_some(instances_, who, kLooksAtOutputs));
    if (!round.complete) {
      if (spent() && racing_->rounds() > 0) racing_->end_by_budget();
      return {};
    }
    result_.record.spoiled_rounds += spoiled ? 1 : 0;
    std::vector<size_t> closing;
    for (const int kernel : racing_->add_round(row))
      closing.push_back(runners_[static_cast<size_t>(kernel)]);
    result_.record.dropped += static_cast<int>(closing.size());
    ASSAY_TRY(bursts_.close(closing));
    station_.observer.on_standings(racing_->rounds(),
                                   show(field_, runners_, racing_->standings(), *laps_));
    if (spent()) racing_->end_by_budget();
    return {};
  }

  // What the race says of each kernel.
  void sum_up() {
    for (const auto& standing : racing_->standings()) {
      const auto place = static_cast<size_t>(standing.kernel);
      Candidate& candidate = runner(place);
      RaceSummary summary{laps_->rounds(place), laps_->clean(place), laps_->median_us(place),
                          standing.dropped_after, laps_->why_untimed(place)};
      if (standing.dropped_after > 0) summary.reason = "clearly behind the leader";
      // Of rounds that were judged, unlike the first look, at which a kernel may pretend to be
      // fast.
      if (summary.median_us > 0) {
        candidate.launch_ns = summary.median_us * 1e3;
        set_launches(runners_[place]);
      }
      candidate.outcome.race = summary;
    }
    result_.record.rounds = runners_.size() == 1 ? laps_->rounds(0) : racing_->rounds();
    result_.record.end = racing_->ended() ? name_of(*racing_->ended()) : "no kernel left";
  }

  // Who is confirmed. Those that ended while they raced stand no more; the headline is about the
  // best kernel that may make one, however far behind stock it is.
  void choose() {
    std::vector<stats::RaceStanding> standing_still;
    for (const auto& standing : racing_->standings())
      if (runner(static_cast<size_t>(standing.kernel)).alive()) standing_still.push_back(standing);
    const auto best = std::ranges::find_if(standing_still, [&](const auto& standing) {
      return may_be_candidate(station_.request, runner(static_cast<size_t>(standing.kernel)));
    });
    std::vector<stats::FinalistTraits> traits;
    for (size_t i = 0; i < runners_.size(); ++i) {
      const KernelOutcome& outcome = runner(i).outcome;
      const bool asked =
          std::ranges::any_of(users_, [&](size_t user) { return entrants_[user] == runners_[i]; });
      const bool headline = best != standing_still.end() && static_cast<size_t>(best->kernel) == i;
      traits.push_back(
          {outcome.role == rivals(), outcome.id == result_.baseline || asked || headline});
    }
    const std::vector<int> finalists = stats::choose_finalists(
        standing_still, traits,
        exhaustive() ? static_cast<int>(runners_.size()) : stats::kFurtherSurvivors);
    for (const int kernel : finalists) {
      const Candidate& candidate = runner(static_cast<size_t>(kernel));
      result_.finalists.push_back(candidate.outcome.id);
      result_.round_ns += candidate.launch_ns * candidate.launches + bursts_.overhead_ns();
    }
    if (!result_.finalists.empty()) result_.leader = result_.finalists.front();
    result_.candidate = best != standing_still.end()
                            ? runner(static_cast<size_t>(best->kernel)).outcome.id
                            : result_.leader;
    result_.spread = stats::confirm_spread(standing_still, finalists);
  }

  const Station& station_;
  Field& field_;
  double budget_seconds_;
  Instances instances_;
  Bursts bursts_;
  RaceResult result_;
  std::vector<size_t> entrants_;     // Candidates.
  std::vector<stats::Burst> first_;  // By entrant: the better of the first look's.
  std::vector<size_t> users_;        // Entrants.
  std::vector<size_t> runners_;      // Candidates that the first look left,
  std::vector<bool> is_kept_;        // whether they stay however slow,
  std::vector<stats::Burst> seen_;   // and what it saw of them.
  std::optional<stats::Race> racing_;
  std::optional<Laps> laps_;  // By runner.
  int failures_ = 0;
};

}  // namespace

Result<RaceResult> race(const Station& station, Field& field, double budget_seconds) {
  return RaceRun(station, field, budget_seconds).run();
}

}  // namespace assay::sweep
