#include "assay/record/ranking.h"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/record.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// Twelve kernels that a race timed, the i-th of a ranker's order in times[i] us; 0: it fell.
ProblemRecord raced(const std::vector<double>& times) {
  ProblemRecord problem;
  problem.ranking.emplace();
  problem.ranking->ranker = "one";
  problem.ranking->costly = static_cast<std::int64_t>(times.size());
  problem.ranking->rankers = {{.name = "one", .scored = static_cast<std::int64_t>(times.size())},
                              {.name = "none", .missing = "its library is not there"}};
  for (std::size_t i = 0; i < times.size(); ++i) {
    KernelOutcome kernel;
    kernel.id = fmt::format("k{}", i + 1);
    kernel.ranks["one"] = static_cast<std::int64_t>(i + 1);
    if (times[i] > 0) {
      kernel.ending = ending::Timed{};
      kernel.race = RaceSummary{.rounds = 10, .clean_rounds = 10, .median_us = times[i]};
    } else {
      kernel.ending = ending::Mismatch{"wrong"};
    }
    problem.kernels.push_back(std::move(kernel));
  }
  return problem;
}

RankerHindsight only(const ProblemRecord& problem) {
  const auto seen = hindsight(problem);
  EXPECT_EQ(seen.size(), 1u) << "whoever scored nothing has none";
  return seen.empty() ? RankerHindsight{} : seen.front();
}

TEST(Hindsight, OneOfTheFirstEightWithinTwoPercentOfTheBestIsRecalled) {
  std::vector<double> times(12, 200);
  times[11] = 100;
  times[7] = 101.9;
  EXPECT_EQ(only(raced(times)).recalled, true);
  EXPECT_NEAR(only(raced(times)).behind, 0.019, 1e-9);
  times[7] = 102.1;
  EXPECT_EQ(only(raced(times)).recalled, false);
  // The ninth is not among the first eight.
  times[7] = 200;
  times[8] = 100;
  EXPECT_EQ(only(raced(times)).recalled, false);
  times[0] = 100;
  EXPECT_EQ(only(raced(times)).recalled, true);
  EXPECT_EQ(only(raced(times)).behind, 0);
}

TEST(Hindsight, KernelsThatFellAreNotRecalledAndThoseThatNobodyRankedDoNotCount) {
  std::vector<double> times(12, 0);
  times[10] = 100;
  EXPECT_EQ(only(raced(times)).recalled, false);
  EXPECT_TRUE(std::isinf(only(raced(times)).behind));
  times[2] = 101;
  ProblemRecord problem = raced(times);
  problem.kernels.emplace_back().id = "library";
  problem.kernels.back().ending = ending::Timed{};
  problem.kernels.back().race = RaceSummary{.median_us = 1};
  EXPECT_EQ(only(problem).recalled, true) << "no ranker could have put the library's first";
}

TEST(Hindsight, WhatWasNotBuiltMayHaveBeenTheBest) {
  ProblemRecord problem = raced(std::vector<double>(12, 100));
  problem.ranking->not_built = 1;
  EXPECT_EQ(only(problem).recalled, std::nullopt);
  EXPECT_TRUE(hindsight(ProblemRecord{}).empty());
}

// The winner is the confirmation's, and so are the times of those that it timed.
TEST(Hindsight, WhatWasConfirmedCountsMoreThanTheRace) {
  std::vector<double> times(12, 200);
  times[0] = 100;
  times[10] = 99;
  ProblemRecord problem = raced(times);
  Confirmation& confirmation = problem.confirmations.emplace_back();
  confirmation.conclusion.winner = "k11";
  confirmation.conclusion.times = {{"k1", 110}, {"k11", 100}};
  EXPECT_EQ(only(problem).winners_rank, 11);
  EXPECT_EQ(only(problem).recalled, false);
  EXPECT_NEAR(only(problem).behind, 0.1, 1e-9);
  problem.kernels[10].ranks.clear();
  EXPECT_EQ(only(problem).winners_rank, 0);
}

Result<RunRecord> read_json(const Json& json) {
  const auto document = parse_json_document(dump_pretty(json), "r.json");
  if (!document) return fail(document.error());
  return read_record(*document);
}

TEST(Ranking, CrossesItsJsonAndARecordFromBeforeHasNone) {
  RunRecord record = testing::make_record();
  const Json before = to_json(record);
  EXPECT_FALSE(before["problems"][0].contains("ranking"));
  EXPECT_FALSE(before["problems"][0]["kernels"][0].contains("ranks"));
  record.options.ranker = "roofline";
  record.options.build = 16;
  record.problems[0].ranking = RankingRecord{
      "roofline",
      16,
      2408,
      2392,
      {{"roofline", "", "", "", 2408, {}}, {"other", "1.2", "/lib/other.so", "", 7, {{"why", 3}}}}};
  record.problems[0].kernels[0].ranks = {{"roofline", 3}, {"other", 1}};
  const Json written = to_json(record);
  const auto read = read_json(written);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(to_json(*read) == written);
  EXPECT_EQ(read->problems[0].ranking, record.problems[0].ranking);
  EXPECT_EQ(read->problems[0].kernels[0].ranks, record.problems[0].kernels[0].ranks);
  EXPECT_EQ(read->options, record.options);

  Json old = before;
  old["options"].erase("ranker");
  old["options"].erase("build");
  const auto from_before = read_json(old);
  ASSERT_TRUE(from_before) << from_before.error().message;
  EXPECT_EQ(from_before->problems[0].ranking, std::nullopt);
  EXPECT_EQ(from_before->options.build, 0);

  Json hostile = written;
  hostile["problems"][0]["kernels"][0]["ranks"]["roofline"] = 0;
  const auto refused = read_json(hostile);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("ranks"));
  hostile = written;
  hostile["problems"][0]["ranking"]["not_built"] = -1;
  EXPECT_FALSE(read_json(hostile));
}

}  // namespace
}  // namespace assay
