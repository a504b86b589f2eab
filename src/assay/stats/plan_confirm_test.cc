#include "assay/stats/plan_confirm.h"

#include <cmath>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/stats/verdict.h"

namespace assay::stats {
namespace {

using testing::ElementsAre;

RaceStanding at(int kernel, double log_ratio, int dropped_after = 0, bool behind = false) {
  return {.kernel = kernel,
          .log_ratio = log_ratio,
          .standard_error = 0.001,
          .spread = 0.01,
          .rounds = 48,
          .clean_rounds = 48,
          .behind = behind,
          .dropped_after = dropped_after};
}

TEST(PlanConfirmTest, LeaderThreeMoreTwoStockAndTheKept) {
  // 7 is the baseline: stock, protected, far behind and still in the race.
  const std::vector<RaceStanding> standings = {
      at(4, 0),      at(0, -0.001),    at(7, -0.4, 0, true), at(1, -0.002),  at(2, -0.003),
      at(3, -0.004), at(5, -0.02, 24), at(6, -0.03, 12),     at(8, -0.05, 6)};
  std::vector<FinalistTraits> traits(9);
  for (const int stock : {5, 6, 7, 8}) traits[stock].stock = true;
  traits[7].keep = true;
  traits[8].keep = true;
  EXPECT_THAT(choose_finalists(standings, traits), ElementsAre(4, 0, 1, 2, 5, 6, 7, 8));
}

TEST(PlanConfirmTest, AKernelWhosePlaceIsUnknownTakesNoSeatWhereItLooksFarBehind) {
  RaceStanding unknown = at(2, -0.7);
  unknown.clean_rounds = 2;
  unknown.looks_behind = true;
  const std::vector<RaceStanding> standings = {at(0, 0), at(1, -0.05, 0, true), unknown};
  EXPECT_THAT(choose_finalists(standings, {}), ElementsAre(0));
}

TEST(PlanConfirmTest, AStockLeaderIsOneOfTheTwoStock) {
  const std::vector<RaceStanding> standings = {at(0, 0), at(1, -0.1, 6), at(2, -0.2, 6)};
  const std::vector<FinalistTraits> traits(3, {.stock = true});
  EXPECT_THAT(choose_finalists(standings, traits), ElementsAre(0, 1));
}

TEST(PlanConfirmTest, KernelsWithoutTraitsAreNeitherStockNorKept) {
  const std::vector<RaceStanding> standings = {at(0, 0), at(1, -0.1, 6)};
  EXPECT_THAT(choose_finalists(standings, {}), ElementsAre(0));
  EXPECT_THAT(choose_finalists({}, {}), ElementsAre());
}

TEST(PlanConfirmTest, SpreadIsThatOfTheNoisiestFinalist) {
  RaceStanding noisy = at(1, -0.6);
  noisy.spread = 0.02;
  RaceStanding out = at(2, -0.005);
  out.spread = 9;
  const std::vector<RaceStanding> standings = {at(0, 0), noisy, out};
  EXPECT_NEAR(confirm_spread(standings, std::vector<int>{0, 1}), 0.02, 1e-12);
}

TEST(PlanConfirmTest, SpoiledRoundsRaiseTheSpread) {
  RaceStanding half = at(1, 0);
  half.clean_rounds = 24;
  EXPECT_NEAR(confirm_spread(std::vector{at(0, 0), half}, std::vector<int>{0, 1}),
              std::sqrt(2.0) * 0.01, 1e-12);
}

TEST(PlanConfirmTest, RoundsBringTheErrorToAQuarterOfTheMargin) {
  // (4 * 0.02 / log 1.01)^2 = 64.6.
  const ConfirmPlan plan = plan_confirmation(0.02, 0.01);
  EXPECT_EQ(plan.rounds, 65);
  EXPECT_EQ(plan.wanted, 65);
}

TEST(PlanConfirmTest, RoundsStayWithinTenAndTwoThousand) {
  EXPECT_EQ(plan_confirmation(0.0001, 0.01).rounds, 10);
  EXPECT_EQ(plan_confirmation(0.5, 0.01).rounds, 2000);
  EXPECT_EQ(plan_confirmation(std::nan(""), 0.01).rounds, 2000);
  EXPECT_EQ(plan_confirmation(0.01, 0).rounds, 2000);
}

TEST(PlanConfirmTest, NearKernelsAreResolvedByMoreProcesses) {
  const ConfirmPlan plan = plan_confirmation(0.02, 0.01);
  EXPECT_GT(plan.processes, 7);
  EXPECT_LE(plan.processes, 15);
  EXPECT_LE(plan.predicted_half_width, std::log1p(0.01) / 3);
  EXPECT_EQ(plan_confirmation(0.02, 0.01, {.fewest = 3, .most = 3}).processes, 3);
}

TEST(PlanConfirmTest, MoreProcessesTakeNoLongerThanTheFewest) {
  for (const double setup_ns : {0.0, 1e6, 50e6, 500e6}) {
    for (const double spread : {0.005, 0.02, 0.1}) {
      const ConfirmBudget budget = {.round_ns = 1e6, .setup_ns = setup_ns, .budget_ns = 700e6};
      const ConfirmPlan plan = plan_confirmation(spread, 0.01, budget);
      EXPECT_GE(plan.processes, 7);
      EXPECT_LE(plan.processes * (plan.rounds * 1e6 + setup_ns), 700e6 + 7 * setup_ns);
      // One that costs little beside its rounds is worth more than they are.
      if (setup_ns == 0 && spread > 0.01) {
        EXPECT_EQ(plan.processes, 15) << spread;
      }
      if (setup_ns > 100e6) {
        EXPECT_LE(plan.processes, 8) << spread;
      }
    }
  }
}

TEST(PlanConfirmTest, TheBudgetCutsRounds) {
  // 7 processes of 1 ms rounds in 217 ms: 31 rounds each, and no more processes than there are.
  const ConfirmPlan plan =
      plan_confirmation(0.02, 0.01, {.round_ns = 1e6, .budget_ns = 217e6, .fewest = 7, .most = 7});
  EXPECT_EQ(plan.rounds, 31);
  EXPECT_EQ(plan.wanted, 65);
}

TEST(PlanConfirmTest, OneRoundIsTheLeast) {
  const ConfirmPlan plan =
      plan_confirmation(0.02, 0.01, {.round_ns = 1e9, .setup_ns = 1e9, .budget_ns = 5e9});
  EXPECT_EQ(plan.rounds, 1);
  EXPECT_EQ(plan.processes, 7);
}

TEST(PlanConfirmTest, AWideIntervalGetsAsManyMoreAsMakeItNarrow) {
  const double margin = std::log1p(0.01);
  EXPECT_EQ(further_processes({0.5 * margin, 0, 13}, 0.01, 30), 0);  // Narrow as it is.
  const int more = further_processes({0.8 * margin, 0, 13}, 0.01, 30);
  // Errors shrink with the root: (0.8 / 0.6)^2 is 1.8.
  EXPECT_GE(13 + more, 21);
  EXPECT_LE(13 + more, 13 * 1.8);
  EXPECT_EQ(further_processes({3 * margin, 0, 13}, 0.01, 30), 0);  // No number helps.
  // Of what all share, none takes anything away.
  EXPECT_GT(further_processes({0.8 * margin, 0.4 * margin, 13}, 0.01, 30), more);
  EXPECT_EQ(further_processes({0.8 * margin, 0.7 * margin, 13}, 0.01, 30), 0);
  EXPECT_EQ(further_processes({}, 0.01, 30), 0);
  EXPECT_EQ(further_processes({HUGE_VAL, 0, 13}, 0.01, 30), 0);
}

// Who extends by the spread alone is wrong about as often as who does not: of races whose processes
// spread by half a margin to three, 0.9 to 1.2 % of intervals (99 %) miss the truth.
TEST(PlanConfirmTest, ExtendingKeepsTheIntervalsPromise) {
  std::mt19937_64 random(7);
  for (const double spread : {0.005, 0.0085, 0.01, 0.013, 0.03}) {
    constexpr int kRaces = 3'000;
    std::normal_distribution<double> noise(0, spread);
    int missed = 0;
    for (int race = 0; race < kRaces; ++race) {
      std::vector<ProcessMean> means;
      const auto add = [&](int count) {
        for (int i = 0; i < count; ++i) means.push_back({.log_ratio = noise(random)});
      };
      add(13);
      const Verdict first = judge(means);
      add(further_processes({std::log(first.high / first.low) / 2, 0, 13}, 0.01, 30));
      const Verdict last = judge(means);
      missed += last.low > 1 || last.high < 1 ? 1 : 0;
    }
    EXPECT_LE(missed, 0.015 * kRaces) << spread;
  }
}

TEST(PlanConfirmTest, ALoneLeaderNeedsTheFewest) {
  const double spread = confirm_spread(
      std::vector<RaceStanding>{{.kernel = 0, .log_ratio = 0, .rounds = 12, .clean_rounds = 12}},
      std::vector<int>{0});
  EXPECT_EQ(spread, 0);
  const ConfirmPlan plan = plan_confirmation(spread, 0.01);
  EXPECT_EQ(plan.processes, 7);
  EXPECT_EQ(plan.rounds, kMinConfirmRounds);
}

}  // namespace
}  // namespace assay::stats
