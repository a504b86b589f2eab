#include "assay/lab/evaluate/holdout_stage.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/lab/evaluate/sweep_race.h"

namespace assay::lab {
namespace {

constexpr int kProcesses = 8;  // Each is a pair.
constexpr double kHoldoutSeconds = 3600;

class HoldoutStage {
 public:
  HoldoutStage(const StageContext& stage, const Holdout& holdout, RunnerOptions runner)
      : stage_(stage), holdout_(holdout), runner_(std::move(runner)) {}

  Status run(const Side& candidate, const Side& incumbent) {
    stage_.observer.on_stage("holdout");
    const std::int64_t began = monotonic_ns();
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    runner_.logs = folder.path();
    AttemptHoldout& result = stage_.record.holdout.emplace();
    result.tolerance = holdout_.tolerance;
    ASSAY_TRY(holdout_.ranges ? race(folder.path(), candidate, incumbent, result)
                              : command(candidate, result));
    add_stage(stage_.record, "holdout", result.holds ? "passed" : "failed", seconds_since(began),
              result.reason);
    if (!result.holds)
      conclude(stage_.record, AttemptOutcome::holdout_failed, "held out: " + result.reason);
    return {};
  }

 private:
  Status command(const Side& candidate, AttemptHoldout& result) const {
    ASSAY_TRY(const ProgramRun run,
              ProgramRunner(runner_).run("holdout", holdout_.command, candidate.folder,
                                         candidate.environment, kHoldoutSeconds));
    result.holds = !run.failure;
    // What it said could tell what is held out.
    if (run.failure) result.reason = "its command ended with a failure";
    return {};
  }

  Status race(const std::filesystem::path& folder, const Side& candidate, const Side& incumbent,
              AttemptHoldout& result) {
    const auto raced_by = std::ranges::find_if(stage_.target.benchmarks, [](const auto& one) {
      return std::holds_alternative<SweepRace>(one.kind);
    });
    Benchmark benchmark = *raced_by;
    benchmark.name = "holdout";
    auto& words = std::get<SweepRace>(benchmark.kind).arguments;
    words = without_shapes(words);
    ASSAY_TRY(const SecretSeed seed, secret_seed());
    const CounterRandom random{.key = seed_from(seed, "holdout"), .stream = 0};
    std::set<std::string> shapes;
    constexpr std::uint64_t kMostTries = 1000;  // Where there are fewer shapes than draws.
    for (std::uint64_t i = 0; i < kMostTries && std::ssize(shapes) < holdout_.draws; ++i)
      shapes.insert(holdout_.ranges->draw(random, i));
    result.draws = std::ssize(shapes);
    for (const std::string& shape : shapes) {
      words.emplace_back("--shape");
      words.push_back(shape);
    }
    ASSAY_TRY(const Raced raced,
              race_sides(ProgramRunner(runner_), benchmark, candidate, incumbent, kProcesses,
                         stage_.options.families_of, folder / "race"));
    judge(raced, result);
    return {};
  }

  void judge(const Raced& raced, AttemptHoldout& result) const {
    if (raced.failure) {
      result.reason = raced.failure->outcome == AttemptOutcome::parity_failed
                          ? "a kernel is wrong on a shape that was drawn"
                          : "a shape that was drawn has no time of both";
      return;
    }
    std::vector<double> ratios;
    for (const auto& pair : raced.pairs) ratios.push_back(pair.at("holdout.weighted_us"));
    stats::KeepOptions options = keep_options(*stage_.record.rules);
    options.systematic = raced.systematic;
    const stats::Guarded guarded = stats::judge_guardrail(ratios, holdout_.tolerance, options);
    result.ratio = guarded.ratio;
    result.low = guarded.low;
    result.holds = guarded.holds;
    result.reason = guarded.reason;
  }

  const StageContext& stage_;
  const Holdout& holdout_;
  RunnerOptions runner_;
};

}  // namespace

Status hold_out(const StageContext& stage, RunnerOptions runner, const Side& candidate,
                const Side& incumbent) {
  if (!stage.target.holdout || stage.record.baseline ||
      stage.record.outcome != AttemptOutcome::keep)
    return {};
  return HoldoutStage(stage, *stage.target.holdout, std::move(runner)).run(candidate, incumbent);
}

}  // namespace assay::lab
