#include "assay/lab/evaluate/confirm_stage.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/counted.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

class ConfirmStage {
 public:
  explicit ConfirmStage(const StageContext& stage) : stage_(stage) {}

  Status run(const ProgramRunner& runner, Slots& slots, const Side& candidate, const Side& other,
             const fs::path& folder) {
    stage_.observer.on_stage(stage_.record.baseline ? "noise floor" : "confirm");
    const int64_t began = monotonic_ns();
    stage_.record.rules = rules_of(stage_);
    ASSAY_TRY(const SecretSeed seed, secret_seed());
    PairPlan plan;
    plan.benchmarks = stage_.plan.benchmarks;
    plan.server = stage_.target.server;
    plan.watched.push_back({stage_.target.objective.metric, stage_.target.objective.direction});
    for (const Guardrail* guardrail : stage_.plan.guardrails)
      plan.watched.push_back({guardrail->metric, guardrail->direction});
    plan.deadline_ns = began + static_cast<int64_t>(stage_.target.confirm_seconds *
                                                    static_cast<double>(kNsPerSecond));
    plan.folder = folder;
    plan.families_of = stage_.options.families_of;
    plan.judges = [&](std::string_view path) {
      // What programs cache beside it is no part of a case.
      return is_fixed(stage_.target, path) &&
             std::ranges::none_of(fs::path(path),
                                  [](const fs::path& part) { return is_left_out(part.string()); });
    };
    plan.on_pair = [&](int done) {
      stage_.observer.on_pair(done, stage_.record.rules->looks.back());
    };
    PairTaker taker(runner, slots, plan, candidate, other,
                    CounterRandom{.key = seed_from(seed, "order"), .stream = 0});
    stats::KeepDecision decision;
    for (const int look : stage_.record.rules->looks) {
      const size_t before = taker.pairs().size();
      ASSAY_TRY(const auto failure, taker.take(look));
      stage_.record.pairs = taker.pairs();
      stage_.record.rules->systematic = taker.systematic();
      if (failure) {
        add_stage(stage_.record, "confirm", "failed", seconds_since(began), failure->reason);
        conclude(stage_.record, failure->outcome, failure->reason);
        return {};
      }
      // Others spoiled every pair: that says nothing of the change, and further looks would only
      // spend the time.
      if (const auto pairs = std::span(taker.pairs()).subspan(before);
          is_spoiled(pairs, stage_.record.rules->metric)) {
        const std::string reason = fmt::format(
            "others were at work in each of {}, and none can be compared: measure again on a quiet "
            "machine",
            counted(std::ssize(pairs), "pair"));
        add_stage(stage_.record, "confirm", "failed", seconds_since(began), reason);
        conclude(stage_.record, AttemptOutcome::interrupted, reason);
        return {};
      }
      stage_.record.rules->budget_over =
          taker.time_is_over() || look == stage_.record.rules->looks.back();
      ASSAY_TRY(decision, decide_again(stage_.record));
      if (decision.word != stats::KeepWord::go_on) break;
    }
    keep_medians(taker.candidate_metrics());
    stage_.record.claim = decision.verdict;
    stage_.record.smallest_keepable = decision.smallest_keepable;
    add_stage(stage_.record, "confirm", "passed", seconds_since(began));
    if (stage_.record.baseline) {
      conclude(stage_.record, AttemptOutcome::keep,
               fmt::format("the baseline; held against itself it came out at {:+.2f} %",
                           100 * (decision.verdict.ratio - 1)));
      return {};
    }
    conclude(stage_.record,
             decision.word == stats::KeepWord::keep       ? AttemptOutcome::keep
             : decision.word == stats::KeepWord::near_tie ? AttemptOutcome::near_tie
                                                          : AttemptOutcome::discard,
             decision.reason);
    if (stage_.record.outcome == AttemptOutcome::keep) judge_guardrails();
    return {};
  }

  // On the pairs that confirm took, and only where the objective would be kept.
  void judge_guardrails() {
    if (stage_.plan.guardrails.empty()) return;
    for (const Guardrail* guardrail : stage_.plan.guardrails) {
      std::vector<double> ratios;
      for (const AttemptPair& pair : stage_.record.pairs)
        if (const auto found = pair.log_ratios.find(guardrail->metric);
            found != pair.log_ratios.end())
          ratios.push_back(found->second);
      const stats::Guarded guarded =
          stats::judge_guardrail(ratios, guardrail->tolerance, keep_options(*stage_.record.rules));
      stage_.record.guardrails.push_back({guardrail->metric, guardrail->tolerance, guarded.ratio,
                                          guarded.low, guarded.holds, guarded.reason});
      if (!guarded.holds)
        conclude(stage_.record, AttemptOutcome::guardrail_failed,
                 fmt::format("{}: {}", guardrail->metric, guarded.reason));
    }
    const bool holds = stage_.record.outcome == AttemptOutcome::keep;
    add_stage(stage_.record, "guardrails", holds ? "passed" : "failed", 0,
              holds ? "" : stage_.record.reason);
  }

  void keep_medians(const std::vector<Metrics>& runs) {
    std::map<std::string, std::vector<double>> values;
    for (const Metrics& run : runs) {
      for (const auto& [name, metric] : run.values) {
        values[name].push_back(metric.value);
        stage_.record.metrics[name].unit = metric.unit;
      }
      for (const auto& [name, flag] : run.flags) stage_.record.flags[name] = flag;
    }
    for (const auto& [name, list] : values)
      stage_.record.metrics[name].value = reduce(list, "median");
    const auto primary = stage_.record.metrics.find(stage_.target.objective.metric);
    if (primary != stage_.record.metrics.end() && !stage_.target.objective.unit.empty())
      primary->second.unit = stage_.target.objective.unit;
  }

  const StageContext& stage_;
};

}  // namespace

AttemptRules rules_of(const StageContext& stage) {
  AttemptRules rules;
  rules.metric = stage.target.objective.metric;
  rules.direction = to_string(stage.target.objective.direction);
  rules.unit = stage.target.objective.unit;
  rules.min_effect = stage.target.objective.min_effect;
  // A baseline is held against itself, for the noise alone.
  rules.looks =
      stage.record.baseline ? std::vector<int>{stage.target.looks.front()} : stage.target.looks;
  const stats::KeepOptions standard;
  rules.false_keeps = standard.false_keeps;
  rules.trim_fraction = standard.trim_fraction;
  return rules;
}

bool is_spoiled(std::span<const AttemptPair> pairs, const std::string& metric) {
  return !pairs.empty() && std::ranges::none_of(pairs, [&](const AttemptPair& pair) {
    return pair.log_ratios.contains(metric);
  });
}

Status confirm(const StageContext& stage, const ProgramRunner& runner, Slots& slots,
               const Side& candidate, const Side& other, const std::filesystem::path& folder) {
  return ConfirmStage(stage).run(runner, slots, candidate, other, folder);
}

}  // namespace assay::lab
