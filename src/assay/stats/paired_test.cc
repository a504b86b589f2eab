#include "assay/stats/paired.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

PairedRound round_of(double log_ratio, int placement = 0, bool clean = true) {
  return {.candidate_ns = 1e5,
          .other_ns = 1e5 * std::exp(log_ratio),
          .clean = clean,
          .placement = placement};
}

TEST(PairedTest, ACandidateInHalfTheTimeIsAboveZero) {
  std::vector<PairedRound> rounds(10, {.candidate_ns = 50, .other_ns = 100});
  const ProcessMean mean = process_mean(rounds);
  ASSERT_TRUE(mean.log_ratio);
  EXPECT_NEAR(*mean.log_ratio, std::log(2.0), 1e-14);
  EXPECT_EQ(mean.standard_error, 0);
  EXPECT_EQ(mean.rounds, 10);
  EXPECT_EQ(mean.clean_rounds, 10);
}

TEST(PairedTest, SwappingTheSidesChangesTheSignAlone) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.02, 0.05);
  std::vector<PairedRound> rounds;
  std::vector<PairedRound> swapped;
  for (int i = 0; i < 37; ++i) {
    rounds.push_back(round_of(noise(random), i % 4, i % 5 != 0));
    swapped.push_back(rounds.back());
    std::swap(swapped.back().candidate_ns, swapped.back().other_ns);
  }
  EXPECT_NEAR(*process_mean(rounds).log_ratio, -*process_mean(swapped).log_ratio, 1e-14);
  EXPECT_NEAR(process_mean(rounds).standard_error, process_mean(swapped).standard_error, 1e-14);
}

TEST(PairedTest, UnderHalfCleanGivesNoMean) {
  std::vector<PairedRound> rounds(20, round_of(0.1));
  for (int i = 0; i < 10; ++i) rounds[i].clean = false;
  EXPECT_TRUE(process_mean(rounds).log_ratio);
  rounds[10].clean = false;
  const ProcessMean mean = process_mean(rounds);
  EXPECT_FALSE(mean.log_ratio);
  EXPECT_EQ(mean.clean_rounds, 9);
  EXPECT_EQ(mean.rounds, 20);
  EXPECT_FALSE(process_mean({}).log_ratio);
}

TEST(PairedTest, TimesThatAreNoTimesAreSpoiled) {
  std::vector<PairedRound> rounds(12, round_of(0.1));
  rounds[0].candidate_ns = 0;
  rounds[1].other_ns = -5;
  rounds[2].candidate_ns = std::nan("");
  rounds[3].other_ns = INFINITY;
  rounds[4] = {.candidate_ns = std::numeric_limits<double>::denorm_min(), .other_ns = 1e308};
  const ProcessMean mean = process_mean(rounds);
  EXPECT_EQ(mean.clean_rounds, 7);
  EXPECT_NEAR(*mean.log_ratio, 0.1, 1e-12);
}

TEST(PairedTest, SpoiledRoundsDoNotMoveTheMean) {
  std::vector<PairedRound> rounds(16, round_of(0.1));
  for (int i = 0; i < 7; ++i) rounds[i] = round_of(5, 0, false);
  EXPECT_NEAR(*process_mean(rounds).log_ratio, 0.1, 1e-12);
}

TEST(PairedTest, APlacementThatSuitsOneKernelCountsLikeTheOthers) {
  std::vector<PairedRound> rounds;
  for (int i = 0; i < 40; ++i) {
    const int placement = i % 4;
    // A quarter of the rounds at +4 %: trimmed together they would vanish.
    rounds.push_back(round_of(placement == 3 ? 0.04 : 0.0, placement));
  }
  EXPECT_NEAR(*process_mean(rounds).log_ratio, 0.01, 1e-12);
  // Spoiling half of that placement's rounds does not take its weight.
  for (int i = 3; i < 23; i += 4) rounds[i].clean = false;
  EXPECT_NEAR(*process_mean(rounds).log_ratio, 0.01, 1e-12);
}

TEST(PairedTest, PairsTakeBothFlagsAndTheShortestLength) {
  const std::vector<Burst> a = {{10, true}, {11, false}, {12, true}, {13, true}};
  const std::vector<Burst> b = {{20, true}, {21, true}, {22, false}};
  const auto rounds = pair_rounds(a, b, std::vector<int>{0, 1, 2, 3});
  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_EQ(rounds[0].candidate_ns, 10);
  EXPECT_EQ(rounds[0].other_ns, 20);
  EXPECT_TRUE(rounds[0].clean);
  EXPECT_FALSE(rounds[1].clean);
  EXPECT_FALSE(rounds[2].clean);
  EXPECT_EQ(rounds[2].placement, 2);
}

// Root mean square error of a process's mean over four placements whose effects have this spread,
// in units of the noise of a round; one round in ten is ten times as noisy.
struct Errors {
  double blocks = 0;
  double together = 0;
  double ours = 0;
};
Errors simulate(int rounds_per_placement, double placement_spread) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Errors errors;
  const int runs = 1500;
  for (int run = 0; run < runs; ++run) {
    std::vector<PairedRound> rounds;
    std::vector<double> all;
    double truth = 0;
    double blocks = 0;
    for (int placement = 0; placement < 4; ++placement) {
      const double effect = placement_spread * normal(random);
      truth += effect / 4;
      std::vector<double> block;
      for (int i = 0; i < rounds_per_placement; ++i) {
        const double scale = uniform(random) < 0.1 ? 10 : 1;
        block.push_back(effect + scale * normal(random));
        rounds.push_back(round_of(block.back() / 1000, placement));
      }
      blocks += trimmed_mean(block) / 4;
      all.insert(all.end(), block.begin(), block.end());
    }
    errors.blocks += std::pow(blocks - truth, 2) / runs;
    errors.together += std::pow(trimmed_mean(all) - truth, 2) / runs;
    errors.ours += std::pow(*process_mean(rounds).log_ratio * 1000 - truth, 2) / runs;
  }
  return {std::sqrt(errors.blocks), std::sqrt(errors.together), std::sqrt(errors.ours)};
}

TEST(PairedTest, BlocksBeatTrimmingTogetherWherePlacementsDiffer) {
  const Errors strong = simulate(10, 3);
  EXPECT_LT(strong.ours, 0.5 * strong.together);
  const Errors plain = simulate(10, 0);
  EXPECT_LT(plain.ours, 1.1 * plain.together);  // And cost little where they do not.
}

TEST(PairedTest, BlocksCutFromTheWholeProcessBeatCuttingWithinEach) {
  const Errors few = simulate(5, 1);
  EXPECT_LT(few.ours, 0.95 * few.blocks);
}

TEST(PairedTest, BlocksOfAFewRoundsAreTrimmedTogether) {
  const Errors few = simulate(2, 0);
  EXPECT_LT(few.ours, 0.8 * few.blocks);
}

}  // namespace
}  // namespace assay::stats
