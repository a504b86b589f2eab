#include "assay/sweep/stages/rank.h"

#include <gmock/gmock.h>

#include "assay/sweep/testing/stage_test.h"

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RankTest : public testing::StageTest {
 protected:
  void SetUp() override {
    StageTest::SetUp();
    request_.pool.rankers = {{"roofline", {}}};
    request_.pool.ranker = "roofline";
    request_.pool.build = 1;
    // The second costly one is the best.
    children_.on<process::Rank>([](const process::Rank& asked) {
      process::Rank::Answer answer;
      answer.found.version = "1";
      for (size_t i = 0; i < asked.count; ++i)
        answer.costs.push_back(10.0 - static_cast<double>(i));
      return answer;
    });
  }
  const std::vector<Row> rows_ = {{"cheap"},
                                  {.name = "slow", .compile_seconds = 45},
                                  {.name = "fast", .compile_seconds = 45},
                                  {.name = "usual", .compile_seconds = 45, .is_default = true}};
};

TEST_F(RankTest, WhatCostsMuchStandsInTheRankersOrderBehindTheRest) {
  auto field = find(rows_).value();
  EXPECT_THAT(names(field), ElementsAre("cheap", "usual", "fast", "slow"));
  EXPECT_EQ(named(field, "usual").place, 0);
  EXPECT_EQ(named(field, "fast").place, 1);
  EXPECT_EQ(named(field, "slow").place, 2);
  // Of all rows, which the ranker saw in the order in which they are listed.
  EXPECT_EQ(named(field, "usual").outcome.ranks["roofline"], 1);
  EXPECT_EQ(named(field, "slow").outcome.ranks["roofline"], 3);
}

TEST_F(RankTest, WithoutARankerTheOrderOfTheListCounts) {
  request_.pool.ranker.clear();
  request_.pool.rankers.clear();
  EXPECT_THAT(names(find(rows_).value()), ElementsAre("cheap", "usual", "slow", "fast"));
}

TEST_F(RankTest, WhatIsBeyondTheFirstAndNotCompiledLeavesTheField) {
  auto field = find(rows_).value();
  ASSERT_TRUE(leave_out(station(), field));
  EXPECT_THAT(names(field), ElementsAre("cheap", "usual", "fast"));
  EXPECT_EQ(field.ranking->not_built, 1);
}

TEST_F(RankTest, WhatIsCompiledAlreadyStays) {
  children_.on<process::FindCached>([](const process::FindCached& asked) {
    return process::FindCached::Answer{std::vector<bool>(asked.rows.size(), true)};
  });
  auto field = find(rows_).value();
  ASSERT_TRUE(leave_out(station(), field));
  EXPECT_THAT(names(field), ElementsAre("cheap", "usual", "fast", "slow"));
  EXPECT_EQ(field.ranking->not_built, 0);
}

TEST_F(RankTest, ARankerThatBringsItsProcessDownIsMissingAndNoMore) {
  request_.pool.ranker.clear();
  children_.die<process::Rank>({.kind = Death::Kind::crashed, .signal = 11});
  const auto field = find(rows_).value();
  ASSERT_EQ(field.ranking->rankers.size(), 1u);
  EXPECT_THAT(field.ranking->rankers[0].missing, HasSubstr("while it ranked kernels"));
  EXPECT_THAT(names(field), ElementsAre("cheap", "usual", "slow", "fast"));
}

TEST_F(RankTest, WhoseOrderIsWantedMustBeThere) {
  children_.die<process::Rank>({.kind = Death::Kind::crashed, .signal = 11});
  const auto field = find(rows_);
  ASSERT_FALSE(field);
  EXPECT_EQ(field.error().code, ErrorCode::invalid_input);
}

TEST_F(RankTest, CostsOfFewerKernelsThanWereAskedAboutAreNoRanking) {
  request_.pool.ranker.clear();
  children_.on<process::Rank>([](const process::Rank&) {
    process::Rank::Answer answer;
    answer.costs = {1.0};
    return answer;
  });
  const auto field = find(rows_).value();
  EXPECT_THAT(field.ranking->rankers[0].missing, HasSubstr("1 costs for 4 kernels"));
}

}  // namespace
}  // namespace assay::sweep
