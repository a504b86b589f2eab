#pragma once

// The race decides where to spend: it drops kernels early and claims nothing. A kernel dropped
// wrongly costs regret, never a false verdict.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "assay/stats/paired.h"

namespace assay::stats {

// Stage 2: the kernels to drop after one burst each, by index: what took longer than `beyond` times
// the best clean burst. Protected kernels never are, nor is one whose only burst was spoiled.
// `bursts` and `is_protected` have one entry per kernel (is_protected may be empty).
inline constexpr double kBeyondBest = 3.0;
std::vector<int> drop_hopeless(std::span<const Burst> bursts, const std::vector<bool>& is_protected,
                               double beyond = kBeyondBest);

struct RaceOptions {
  std::vector<int> looks = {6, 12, 24, 48};  // After these many rounds kernels may be dropped.
  // A kernel is dropped where it is behind by more than z * hypot(standard error, floor). Simulated
  // over 600 races each of pools of 40 kernels, with 0.3 to 10 % of noise from round to round and
  // effects of 0.4 to 1 % that one process cannot see: the boldest pair tried whose mean regret
  // stays under 0.1 % for every noise (0.08 %). z = 2 loses up to 0.13 %, no floor up to 0.12 %; a
  // floor of 1 % loses 0.06 % and takes up to 2.2 times as long
  // (RaceTest.DroppingIsBoldAndCostsLittle).
  double z = 2.5;
  double floor = 0.004;  // What one process cannot see: its own effect and its placements'.
  double trim_fraction = kTrimFraction;
};

enum class RaceEnd { last_look, one_left, budget };
std::string_view to_string(RaceEnd end);

struct RaceStanding {
  int kernel = 0;
  // Estimated log(t_leader / t_kernel) over the rounds clean for both, 0 for the leader and below
  // it for those behind; none where no round was clean for both.
  std::optional<double> log_ratio;
  double standard_error = 0;  // Of log_ratio, by the shrunk spread below, without the floor.
  // Standard deviation of one round's log ratio, such that spread / sqrt(rounds) is the error of
  // their trimmed mean; drawn towards the pool's while rounds are few. 0 for the leader.
  double spread = 0;
  int rounds = 0;        // That it took part in.
  int clean_rounds = 0;  // Clean for it and the leader.
  bool behind = false;   // Clearly behind the leader (protected kernels too).
  // The same by rounds that are too few for the race to act on: no reason to drop, nor to confirm.
  bool looks_behind = false;
  int dropped_after = 0;  // The look that dropped it, 0 while it is in the race.
};

// One race of one process: feed rounds, ask who is still in. Pure: no clock, no chance.
class Race {
 public:
  // `is_protected` (empty, or one entry per kernel) marks baseline and incumbent: never dropped.
  Race(int kernels, std::vector<bool> is_protected = {}, RaceOptions options = {});

  // One round: one entry per kernel; those of dropped kernels are not read. Returns the kernels
  // that this round's look dropped (empty between looks). Rounds after the end are ignored.
  std::vector<int> add_round(std::span<const Burst> bursts);

  // The caller's budget is spent: the race ends as it stands.
  void end_by_budget();

  std::optional<RaceEnd> ended() const { return ended_; }
  int rounds() const { return rounds_; }
  // Rounds until the next look, 0 once ended.
  int rounds_to_next_look() const;
  bool in_race(int kernel) const;
  std::vector<int> survivors() const;

  // The fastest survivor; -1 while none has a clean burst.
  int leader() const;
  // One entry per kernel, best first: survivors by log ratio, then the dropped ones by log ratio.
  std::vector<RaceStanding> standings() const;

 private:
  // All kernels against the leader, in order of kernel.
  std::vector<RaceStanding> against_leader() const;
  RaceStanding against(int kernel, int other) const;

  std::vector<bool> protected_;
  RaceOptions options_;
  std::vector<std::vector<Burst>> bursts_;  // By kernel, then by round.
  std::vector<int> dropped_after_;
  int rounds_ = 0;
  std::optional<RaceEnd> ended_;
};

}  // namespace assay::stats
