// What a claim is worth: whole confirmations simulated, from burst times to words.

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "assay/stats/plan_confirm.h"
#include "assay/stats/verdict.h"

namespace assay::stats {
namespace {

enum class Tails { normal, heavy };

// Standard deviations of log times and log ratios.
struct World {
  double difference = 0;     // True log ratio: above 0 the candidate is faster.
  double round = 0.01;       // Noise of one burst.
  double placement = 0.005;  // Effect of a placement on a pair.
  double process = 0.002;    // Effect of a process on a pair.
  double shared = 0;         // Effect of a run on all its processes.
  double spoiled = 0.1;      // Share of bursts that are delayed and noticed.
  double unnoticed = 0.03;   // Share that are delayed by up to 10 % and not noticed.
  Tails tails = Tails::normal;
  int rounds = 24;
  int processes = 7;
};

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed) {}

  std::vector<ProcessMean> confirm(const World& world) {
    std::vector<ProcessMean> means;
    const double shared = world.shared > 0 ? world.shared * normal_(random_) : 0;
    std::vector<PairedRound> rounds(static_cast<std::size_t>(world.rounds));
    for (int process = 0; process < world.processes; ++process) {
      const double shift = world.difference + shared + world.process * noise(world.tails);
      double placement_effect[4];
      for (double& effect : placement_effect) effect = world.placement * normal_(random_);
      for (int i = 0; i < world.rounds; ++i) {
        const double drift = 0.1 * normal_(random_);  // Common to both: pairs must not see it.
        const int placement = i / ((world.rounds + 3) / 4);
        PairedRound& round = rounds[static_cast<std::size_t>(i)];
        round.placement = placement;
        round.clean = true;
        round.candidate_ns = burst(world, drift, round.clean);
        round.other_ns = burst(world, drift + shift + placement_effect[placement], round.clean);
      }
      means.push_back(process_mean(rounds));
    }
    return means;
  }

 private:
  double noise(Tails tails) {
    return tails == Tails::normal ? normal_(random_) : heavy_(random_) / std::sqrt(3.0);
  }

  double burst(const World& world, double log_time, bool& clean) {
    log_time += world.round * noise(world.tails);
    const double fate = uniform_(random_);
    if (fate < world.spoiled) {
      clean = false;
      log_time += uniform_(random_);
    } else if (fate < world.spoiled + world.unnoticed) {
      log_time += 0.1 * uniform_(random_);
    }
    return 1e5 * std::exp(log_time);
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3};
  std::uniform_real_distribution<double> uniform_;
};

struct Tally {
  int words[6] = {};
  int covered = 0;
  int clear_of_one = 0;
  double detectable = 0;

  int operator[](Word word) const { return words[static_cast<int>(word)]; }
};

Tally tally(const World& world, int runs, const JudgeOptions& options = {}, unsigned seed = 20) {
  Simulation simulation(seed);
  Tally result;
  for (int run = 0; run < runs; ++run) {
    const Verdict verdict = judge(simulation.confirm(world), options);
    ++result.words[static_cast<int>(verdict.word)];
    const double truth = std::exp(world.difference);
    if (verdict.low <= truth && truth <= verdict.high) ++result.covered;
    if (verdict.low > 1 || verdict.high < 1) ++result.clear_of_one;
    result.detectable += verdict.smallest_detectable / runs;
  }
  return result;
}

// 99 % of 3000 is 2970, with a standard deviation of 5.4: three of them below.
constexpr int kRuns = 3000;
constexpr int kCovered = 2954;

TEST(ClaimsTest, TheIntervalCoversInQuietAndNoisyWorlds) {
  EXPECT_GE(tally({}, kRuns).covered, kCovered);
  EXPECT_GE(tally({.difference = 0.03, .round = 0.03, .process = 0.003}, kRuns).covered, kCovered);
  EXPECT_GE(
      tally({.difference = -0.2, .round = 0.05, .process = 0.01, .rounds = 12}, kRuns).covered,
      kCovered);
}

TEST(ClaimsTest, TheIntervalCoversUnderHeavyTails) {
  EXPECT_GE(tally({.process = 0.003, .tails = Tails::heavy}, kRuns).covered, kCovered);
  EXPECT_GE(tally({.round = 0.05, .process = 0.01, .unnoticed = 0.1, .tails = Tails::heavy}, kRuns)
                .covered,
            kCovered);
}

TEST(ClaimsTest, WhatAllProcessesShareMustBeKnownToBeCovered) {
  const World world = {.process = 0.001, .shared = 0.002, .rounds = 100};
  EXPECT_LT(tally(world, kRuns).covered, kCovered);
  EXPECT_GE(tally(world, kRuns, {.systematic = 0.002}).covered, kCovered);
}

TEST(ClaimsTest, OneProcessAloneWouldNotCover) {
  // Why processes are the samples: the error from round to round says nothing of what a process and
  // its placements add.
  Simulation simulation(21);
  int covered = 0;
  for (int run = 0; run < 500; ++run) {
    const ProcessMean mean = simulation.confirm({.placement = 0.003, .rounds = 100}).front();
    if (std::abs(*mean.log_ratio) < 1.98 * mean.standard_error) ++covered;
  }
  EXPECT_LT(covered, 400);
}

// Gives a world the processes and rounds that its race would have planned.
World planned(World world, double margin) {
  RaceStanding standing = {.kernel = 1, .log_ratio = 0, .rounds = 48};
  standing.spread =
      1.1 * std::sqrt(2.0) * world.round;  // 1.1: what trimming costs on normal noise.
  standing.clean_rounds = static_cast<int>(48 * std::pow(1 - world.spoiled, 2));
  const ConfirmPlan plan = plan_confirmation(
      confirm_spread(std::vector<RaceStanding>{standing}, std::vector<int>{1}), margin);
  world.rounds = plan.rounds;
  world.processes = plan.processes;
  return world;
}

TEST(ClaimsTest, AKernelAgainstItselfIsNeverFasterAndMostlySame) {
  const Tally idle = tally(planned({}, 0.01), kRuns);
  EXPECT_EQ(idle[Word::faster] + idle[Word::slower], 0);
  EXPECT_GE(idle[Word::same], kRuns * 8 / 10);
  EXPECT_LE(idle.clear_of_one, kRuns - kCovered);
}

TEST(ClaimsTest, AKernelAgainstItselfOnABusyMachineClaimsNothing) {
  const Tally busy =
      tally({.round = 0.05, .process = 0.01, .spoiled = 0.2, .unnoticed = 0.1}, kRuns);
  EXPECT_LE(busy[Word::faster] + busy[Word::slower], kRuns / 500);
  EXPECT_LE(busy.clear_of_one, kRuns - kCovered);
}

TEST(ClaimsTest, TooFewCleanRoundsAreUnsure) {
  const Tally drowned = tally({.spoiled = 0.5}, 200);
  EXPECT_EQ(drowned[Word::unsure], 200);
}

TEST(ClaimsTest, SlowedCopiesAreFoundSlowerAndNeverFaster) {
  World slowed = {.difference = -std::log(1.02)};
  const Tally two = tally(planned(slowed, 0.005), 500, {.margin = 0.005});
  EXPECT_GE(two[Word::slower], 450);
  EXPECT_EQ(two[Word::faster] + two[Word::slightly_faster], 0);
  slowed.difference = -std::log(1.05);
  const Tally five = tally(planned(slowed, 0.01), 500);
  EXPECT_GE(five[Word::slower], 490);
  EXPECT_EQ(five[Word::faster] + five[Word::slightly_faster], 0);
}

TEST(ClaimsTest, TheSmallestDetectableDifferenceIsFoundThreeTimesInFour) {
  const World idle;
  World different = idle;
  different.difference = std::log1p(tally(idle, 1000).detectable);
  const Tally found = tally(different, 1000);
  EXPECT_GE(found.clear_of_one, 680);
  EXPECT_LE(found.clear_of_one, 820);
}

}  // namespace
}  // namespace assay::stats
