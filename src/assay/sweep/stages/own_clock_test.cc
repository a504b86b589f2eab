#include "assay/sweep/stages/own_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The candidate is faster in turns, if that was shown; alone it takes so many seconds for as many
// launches as the other in one.
std::optional<Finding> finding(double seconds, double joules, bool shown = true,
                               double capped = 1) {
  ProblemRecord problem = assay::testing::make_record().problems[0];
  if (!shown) problem.confirmations.back().conclusion.headline->verdict.low = 0.9;
  const PairVerdict* pair = problem.headline();
  EXPECT_NE(pair, nullptr);
  EXPECT_GT(pair->verdict.ratio, 1);
  OwnClock clock{pair->candidate, pair->other, {}};
  for (const auto& [id, took] : {std::pair{pair->candidate, seconds},
                                 {pair->other, 1.0},
                                 {pair->other, 1.0},
                                 {pair->candidate, seconds}})
    clock.blocks.push_back({id, 1000, took, joules, 1500, capped});
  return finding_of(clock, problem);
}

TEST(OwnClockTest, ASignThatDiffersIsSaid) {
  const auto same = finding(0.9, 0);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->code, "own_clock");
  EXPECT_THAT(same->sentence, HasSubstr("is 1.111 x as fast as"));
  EXPECT_THAT(same->sentence, Not(HasSubstr("differs")));
  EXPECT_THAT(same->sentence, Not(HasSubstr("mJ"))) << "no energy was told";
  const auto differs = finding(1.25, 2);
  ASSERT_TRUE(differs);
  EXPECT_EQ(differs->code, "own_clock_differs");
  EXPECT_THAT(differs->sentence, HasSubstr("is 0.800 x as fast as"));
  EXPECT_THAT(differs->sentence, HasSubstr("the sign differs; 2 against 2 mJ a launch"));
  const auto unknown = finding(1.25, 2, false);
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->code, "own_clock") << "there was no sign";
}

TEST(OwnClockTest, WhatNothingHeldBackAloneIsSaidToBeSo) {
  EXPECT_THAT(finding(0.9, 0)->sentence, HasSubstr("at the power cap"));
  const auto free = finding(0.9, 0, true, 0);
  ASSERT_TRUE(free);
  EXPECT_THAT(free->sentence, HasSubstr("below the power cap, where each ran alone"));
  EXPECT_THAT(free->sentence, HasSubstr("is 1.111 x as fast as"));
}

TEST(OwnClockTest, OfADefaultThatIsTheBestThereAreNoTwo) {
  ProblemRecord problem = assay::testing::make_record().problems[0];
  PairVerdict& headline = *problem.confirmations.back().conclusion.headline;
  EXPECT_EQ(pair_at_own_clock(problem), &headline);
  headline.other = headline.candidate;
  EXPECT_EQ(pair_at_own_clock(problem), nullptr);
}

TEST(OwnClockTest, ABlockThatTellsNothingCountsForNothing) {
  OwnClock clock{"a", "b", {{"a", 10, 1, 5}, {"b", 10, 2, 0}, {"a", 30, 3, 0}}};
  EXPECT_DOUBLE_EQ(*clock.microseconds("a"), 1e5);
  EXPECT_DOUBLE_EQ(*clock.joules("a"), 0.5) << "of the launches whose energy is known";
  EXPECT_EQ(clock.joules("b"), std::nullopt);
  EXPECT_DOUBLE_EQ(*clock.ratio(), 2);
  clock.blocks.pop_back();
  clock.blocks.pop_back();
  EXPECT_EQ(clock.ratio(), std::nullopt);
}

TEST(OwnClockTest, AFewSamplesAtTheCapAreNotAGpuHeldBack) {
  GpuWindow window;
  EXPECT_FALSE(is_capped(window));
  window.throttled["power cap"] = 0.01;
  EXPECT_FALSE(is_capped(window));
  window.throttled["power cap"] = 0.4;
  EXPECT_TRUE(is_capped(window));
  window.throttled = {{"thermal", 0.9}};
  EXPECT_FALSE(is_capped(window));
}

}  // namespace
}  // namespace assay::sweep
