#include "assay/sweep/stages/own_clock.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "assay/sweep/run_facts.h"
#include "assay/timing/bursts.h"

namespace assay::sweep {
namespace {

constexpr double kBlockSeconds = 2;  // Clocks swing for less (docs/method.md).
constexpr const char* kPowerCap = "power cap";
// Of the samples: below this nothing was held back; it met the end of somebody else's heat.
constexpr double kLeastShare = 0.05;

double capped_share(const GpuWindow& window) {
  const auto found = window.throttled.find(kPowerCap);
  return found == window.throttled.end() ? 0 : found->second;
}

}  // namespace

const PairVerdict* pair_at_own_clock(const ProblemRecord& problem) {
  if (const PairVerdict* headline = problem.headline())
    return headline->candidate == headline->other ? nullptr : headline;
  const Conclusion* conclusion = problem.conclusion();
  return conclusion == nullptr || conclusion->against_leader.empty()
             ? nullptr
             : &conclusion->against_leader.front();
}

bool is_capped(const GpuWindow& window) { return capped_share(window) >= kLeastShare; }

Result<std::optional<OwnClock>> race_at_own_clock(const Station& station, Field& field,
                                                  size_t candidate, size_t other) {
  Instances instances(station);
  ASSAY_TRY(instances.commit());
  ASSAY_TRY(instances.make(InputKind::uniform));
  Bursts bursts(station, field, Crew::kRace);
  ASSAY_TRY(bursts.open(instances, {candidate, other}, 7));
  OwnClock clock;
  clock.candidate = field.candidates[candidate].outcome.id;
  clock.other = field.candidates[other].outcome.id;
  const size_t order[] = {candidate, other, other, candidate};
  for (const size_t index : order) {
    if (!field.candidates[candidate].alive() || !field.candidates[other].alive()) break;
    station.observer.on_stage("own clock", clock.blocks.size() + 1, std::size(order),
                              field.candidates[index].outcome.label());
    ASSAY_TRY(take_gpu_window(station.crew).map([](const GpuWindow&) {}));
    ASSAY_TRY(const auto ran, bursts.block(index, kBlockSeconds));
    if (!ran) break;
    ASSAY_TRY(const GpuWindow window, take_gpu_window(station.crew));
    clock.blocks.push_back({field.candidates[index].outcome.id, ran->launches,
                            static_cast<double>(ran->ns) * 1e-9, window.joules,
                            window.sm_mhz ? window.sm_mhz->median : 0, capped_share(window)});
    ASSAY_TRY(bursts.judge_timed_output(instances, index));
  }
  ASSAY_TRY(bursts.unload());
  ASSAY_TRY(instances.drop());
  if (clock.blocks.size() < std::size(order)) return std::optional<OwnClock>();
  return std::optional(std::move(clock));
}

std::optional<Finding> finding_of(const OwnClock& clock, const ProblemRecord& problem) {
  const auto ratio = clock.ratio();
  const PairVerdict* pair = pair_at_own_clock(problem);
  if (!ratio || pair == nullptr) return std::nullopt;
  // Blocks are no samples of a claim: what they are for is a sign that differs from one that was
  // shown.
  const bool shown = pair->verdict.low > 1 || pair->verdict.high < 1;
  const bool differs = shown && (*ratio - 1) * (pair->verdict.ratio - 1) < 0;
  const bool capped = std::ranges::any_of(
      clock.blocks, [](const ClockBlock& block) { return block.capped >= kLeastShare; });
  std::string sentence =
      fmt::format("{} {} is {:.3f} x as fast as {} alone, at its own clock, {:.3f} x in turns{}",
                  capped ? "at the power cap" : "below the power cap, where each ran alone,",
                  problem.label(clock.candidate), *ratio, problem.label(clock.other),
                  pair->verdict.ratio, differs ? ": the sign differs" : "");
  const auto mine = clock.joules(clock.candidate), others = clock.joules(clock.other);
  if (mine && others)
    sentence += fmt::format("; {:.4g} against {:.4g} mJ a launch", 1e3 * *mine, 1e3 * *others);
  return Finding{differs ? "own_clock_differs" : "own_clock", std::move(sentence)};
}

}  // namespace assay::sweep
