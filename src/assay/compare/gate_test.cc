#include "assay/compare/gate.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using testing::SampleKernel;

// Yours, `times` as fast as the best stock kernel.
RunRecord race(double times, std::uint64_t seed = 1) {
  const SampleKernel yours{"cpp_source", "mine", KernelRole::user, 10 / times, 0};
  const SampleKernel stock{"openblas", "sgemm", KernelRole::stock, 10, 0};
  const auto kernels = times > 1 ? std::vector{yours, stock} : std::vector{stock, yours};
  return testing::make_record({testing::make_problem("p", kernels, {}, {.seed = seed})});
}

ClaimState state(double times, std::string_view requirement) {
  const auto claims = require_of_race(race(times), *parse_requirement(requirement));
  EXPECT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].fails, claims[0].state != ClaimState::held);
  return claims[0].state;
}

TEST(GateTest, FasterAloneIsFaster) {
  EXPECT_EQ(state(1.1, "faster"), ClaimState::held);
  EXPECT_EQ(state(1.0, "faster"), ClaimState::refuted);
  EXPECT_EQ(state(0.5, "faster"), ClaimState::refuted);
}

TEST(GateTest, WhoIsFasterIsNoSlower) {
  EXPECT_EQ(state(1.1, "same"), ClaimState::held);
  EXPECT_EQ(state(1.0, "same"), ClaimState::held);
  EXPECT_EQ(state(0.9, "same"), ClaimState::refuted);
}

TEST(GateTest, WithinAShare) {
  EXPECT_EQ(state(0.96, "within:5%"), ClaimState::held);
  EXPECT_EQ(state(0.96, "within:0.05"), ClaimState::held);
  EXPECT_EQ(state(0.90, "within:5%"), ClaimState::refuted);
}

TEST(GateTest, WhatIsNoRequirementSaysWhatIs) {
  for (const char* text : {"", "fast", "within", "within:", "within:x", "within:0", "within:100%",
                           "within:3%%", "within:nan", "Faster"}) {
    const auto parsed = parse_requirement(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(parsed.error().message, HasSubstr("within:3%")) << text;
  }
}

TEST(GateTest, AKernelThatFellHoldsNothing) {
  RunRecord record = race(1.1);
  record.problems[0].kernels[0].ending = ending::Mismatch{"out[0] = nan"};
  record.problems[0].confirmations.clear();
  const auto claims = require_of_race(record, *parse_requirement("within:50%"));
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_TRUE(claims[0].fails);
  EXPECT_THAT(claims[0].why, HasSubstr("gave wrong results"));
}

TEST(GateTest, ARegressionIsASpeedUpThatFell) {
  const Regression kept = no_regression(race(1.1, 2), race(1.1), "before.json");
  ASSERT_EQ(kept.claims.size(), 1u);
  EXPECT_EQ(kept.claims[0].state, ClaimState::held) << kept.claims[0].why;
  const Regression fell = no_regression(race(1.05, 2), race(1.1), "before.json");
  ASSERT_EQ(fell.claims.size(), 1u);
  EXPECT_EQ(fell.claims[0].state, ClaimState::refuted);
  EXPECT_TRUE(fell.claims[0].fails);
}

// Of two near-equal stock kernels another one may lead.
TEST(GateTest, AnotherStockKernelOfBothRacesWillDo) {
  const SampleKernel yours{"cpp_source", "mine", KernelRole::user, 9, 0};
  const SampleKernel common{"openblas", "sgemm", KernelRole::stock, 10, 0};
  const auto with = [&](const char* leader, double us, std::uint64_t seed) {
    SampleKernel mine = yours;
    mine.us = us;
    const SampleKernel first{"libxsmm", leader, KernelRole::stock, 9.8, 0};
    return testing::make_record(
        {testing::make_problem("p", {mine, first, common}, {}, {.seed = seed})});
  };
  const Regression kept = no_regression(with("b", 9, 2), with("a", 9, 1), "before.json");
  ASSERT_EQ(kept.claims.size(), 1u);
  EXPECT_EQ(kept.claims[0].state, ClaimState::held) << kept.claims[0].why;
  const Regression fell = no_regression(with("b", 9.5, 2), with("a", 9, 1), "before.json");
  ASSERT_EQ(fell.claims.size(), 1u);
  EXPECT_EQ(fell.claims[0].state, ClaimState::refuted) << fell.claims[0].why;
}

TEST(GateTest, NobodyInCommonIsMissingWithWhatToDo) {
  RunRecord before = race(1.1);
  before.problems[0].kernels[1].name = "another";
  const Regression found = no_regression(race(1.1), before, "before.json");
  EXPECT_THAT(found.missing, ::testing::ElementsAre(HasSubstr("race with --provider openblas")));
}

TEST(GateTest, AKernelIsFoundByItsNameOrIfItIsTheOnlyOne) {
  RunRecord before = race(1.1);
  for (KernelOutcome& kernel : before.problems[0].kernels)
    if (kernel.role == KernelRole::user) kernel.name = "old";
  const Regression renamed = no_regression(race(1.1, 2), before, "before.json");
  ASSERT_EQ(renamed.claims.size(), 1u);
  EXPECT_EQ(renamed.claims[0].state, ClaimState::held) << renamed.claims[0].why;
  EXPECT_THAT(renamed.claims[0].text, HasSubstr("/old before"));
  RunRecord now = race(1.1, 2);
  auto& kernels = now.problems[0].kernels;
  const auto mine = std::ranges::find(kernels, KernelRole::user, &KernelOutcome::role);
  ASSERT_NE(mine, kernels.end());
  KernelOutcome second = *mine;
  second.name = "second";
  kernels.push_back(second);
  const Regression two = no_regression(now, before, "before.json");
  EXPECT_THAT(two.missing, ::testing::ElementsAre(::testing::AllOf(
                               HasSubstr("no kernel"), HasSubstr("/old"), HasSubstr("/second"))));
}

TEST(GateTest, WhatTheEarlierRaceLacksIsMissing) {
  RunRecord before = race(1.1);
  before.problems[0].name = "another";
  const Regression found = no_regression(race(1.1), before, "before.json");
  EXPECT_THAT(found.missing, ::testing::ElementsAre(HasSubstr("before.json has no verdict")));
}

TEST(GateTest, AnotherMachineIsStale) {
  RunRecord before = race(1.1);
  before.environment.libraries[0].version = "0.3.29";
  EXPECT_THAT(no_regression(race(1.1), before, "before.json").stale,
              ::testing::ElementsAre(HasSubstr("0.3.29")));
}

}  // namespace
}  // namespace assay
