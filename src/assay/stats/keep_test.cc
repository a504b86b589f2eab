#include "assay/stats/keep.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

// Pairs of one attempt, looked at as a lab does.
template <class Draw>
KeepDecision attempt(const KeepOptions& options, Draw&& draw) {
  std::vector<double> pairs;
  KeepDecision decision;
  for (const int look : options.looks) {
    while (static_cast<int>(pairs.size()) < look) pairs.push_back(draw());
    decision = decide_keep(pairs, options);
    if (decision.word != KeepWord::go_on) return decision;
  }
  return decision;
}

TEST(KeepTest, SpendsAllOfItsErrorAndNoMore) {
  EXPECT_NEAR(spending_share(0, 3), 0.1, 1e-12);
  EXPECT_NEAR(spending_share(1, 3), 0.3, 1e-12);
  EXPECT_NEAR(spending_share(2, 3), 0.6, 1e-12);
  EXPECT_NEAR(spending_share(0, 1), 1, 1e-12);
}

TEST(KeepTest, NullAttemptsAreHardlyEverKeptAndStopEarly) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  int kept = 0;
  double pairs = 0;
  constexpr int kAttempts = 4000;
  for (int i = 0; i < kAttempts; ++i) {
    const KeepDecision decision = attempt({}, [&] { return noise(random); });
    kept += decision.word == KeepWord::keep ? 1 : 0;
    pairs += decision.verdict.processes;
  }
  EXPECT_LE(kept, 3);  // Half an attempt is expected.
  EXPECT_LE(pairs / kAttempts, 20);
}

TEST(KeepTest, ATrueGainIsKept) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 0.01);
  int kept = 0;
  for (int i = 0; i < 400; ++i)
    kept += attempt({}, [&] { return std::log(1.02) + noise(random); }).word == KeepWord::keep;
  EXPECT_GE(kept, 380);
}

TEST(KeepTest, AGainBelowTheLeastOneIsNeverKept) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.0001);
  for (int i = 0; i < 100; ++i)
    EXPECT_NE(attempt({}, [&] { return 0.004 + noise(random); }).word, KeepWord::keep);
}

TEST(KeepTest, IdenticalTimesAreNoGain) {
  const KeepDecision decision = attempt({}, [] { return 0.0; });
  EXPECT_EQ(decision.word, KeepWord::discard);
}

TEST(KeepTest, OneSpoiledPairDoesNotDecide) {
  std::vector<double> pairs = {0.001, -0.001, 0.002, -0.002, 0.001, -0.001, 0.0, 3.0};
  EXPECT_NE(decide_keep(pairs, {}).word, KeepWord::keep);
  EXPECT_LT(decide_keep(pairs, {}).verdict.ratio, 1.005);
}

TEST(KeepTest, FewPairsDecideNothingUnlessTimeIsOver) {
  const std::vector<double> pairs = {0.02, 0.021, 0.02};
  EXPECT_EQ(decide_keep(pairs, {}).word, KeepWord::go_on);
  EXPECT_EQ(decide_keep(pairs, {}, true).word, KeepWord::near_tie);
  EXPECT_EQ(decide_keep({}, {}, true).word, KeepWord::discard);
}

TEST(KeepTest, ASentenceOfTooFewPairsPrintsNoBounds) {
  const std::vector<double> pairs = {0.02, 0.045};
  const KeepDecision decision = decide_keep(pairs, {}, true);
  EXPECT_EQ(decision.word, KeepWord::near_tie);
  EXPECT_TRUE(decision.verdict.has_interval());  // It stands in the record.
  EXPECT_EQ(decision.reason,
            "+3.30 % after 2 pairs, too few to bound it, when the time was over, which is no proof "
            "of a gain");
}

TEST(KeepTest, AGuardrailAsksForProofThatNothingWasLost) {
  const std::vector<double> same = {0.001, -0.001, 0.002, -0.002, 0.001, -0.001, 0.0, 0.001};
  EXPECT_TRUE(judge_guardrail(same, 0.01, {}).holds);
  const std::vector<double> noisy = {0.1, -0.1, 0.12, -0.12, 0.1, -0.1, 0.0, 0.1};
  EXPECT_FALSE(judge_guardrail(noisy, 0.01, {}).holds);
  const std::vector<double> slower = {-0.03, -0.031, -0.03, -0.029, -0.03, -0.03, -0.03, -0.03};
  EXPECT_FALSE(judge_guardrail(slower, 0.01, {}).holds);
  EXPECT_TRUE(judge_guardrail(slower, 0.05, {}).holds);
}

}  // namespace
}  // namespace assay::stats
