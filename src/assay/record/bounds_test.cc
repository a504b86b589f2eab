#include "assay/record/bounds.h"

#include <gtest/gtest.h>

#include "assay/record/conclude.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using stats::Word;
using testing::id_of;
using testing::SampleKernel;

const SampleKernel kYours{"cpp_source", "naive", KernelRole::user, 30'000, 0};
const SampleKernel kStock{"openblas", "sgemm", KernelRole::stock, 1'000, 0};
const SampleKernel kSlowStock{"onednn", "sgemm", KernelRole::stock, 20'000, 0};
const SampleKernel kOurs{"native_cpu", "rows", KernelRole::ours, 1'000, 0};

RunOptions options() {
  RunOptions options;
  options.rules = kRulesOfBounds;
  options.threads = 1;
  return options;
}

// No round is clean: every burst lasted three times as long as its process ran.
void disturb(KernelSamples& samples) {
  samples.clean.assign(samples.burst_ns.size(), 0);
  samples.ran_least_ns = samples.ran_most_ns = samples.burst_ns;
  for (std::int64_t& ns : samples.burst_ns) ns *= 3;
  samples.outside_ns = samples.burst_ns;
}

ProblemRecord disturbed(const std::vector<SampleKernel>& kernels) {
  ProblemRecord problem = testing::make_problem("p", kernels, options());
  for (ProcessSamples& process : problem.confirmations[0].processes)
    std::ranges::for_each(process.kernels, disturb);
  return problem;
}

stats::Verdict between(const ProblemRecord& problem, const SampleKernel& one,
                       const SampleKernel& other, RunOptions judging = options()) {
  return judge_pair(problem, problem.confirmations[0], judging, id_of(one), id_of(other));
}

// 30 times as slow by what their processes ran, half of which neighbours may have caused.
TEST(BoundsTest, WhatIsFarSlowerIsSlowerThoughNoRoundWasClean) {
  const ProblemRecord problem = disturbed({kStock, kYours});
  const stats::Verdict verdict = between(problem, kYours, kStock);
  EXPECT_EQ(verdict.word, Word::slower);
  EXPECT_TRUE(verdict.is_bound());
  EXPECT_FALSE(verdict.has_interval());
  EXPECT_NEAR(1 / verdict.high, 15, 0.5);
  EXPECT_EQ(between(problem, kStock, kYours).word, Word::faster);
}

TEST(BoundsTest, EarlierRulesKnowNoBounds) {
  RunOptions earlier = options();
  earlier.rules = 2;
  EXPECT_EQ(between(disturbed({kStock, kYours}), kYours, kStock, earlier).word, Word::unsure);
}

TEST(BoundsTest, CleanRoundsHaveAnInterval) {
  const ProblemRecord problem = testing::make_problem("p", {kStock, kYours}, options());
  EXPECT_TRUE(between(problem, kYours, kStock).has_interval());
}

TEST(BoundsTest, WhatNeighboursMayHaveCausedIsUnsure) {
  SampleKernel near = kYours;
  near.us = 1.9 * kStock.us;
  EXPECT_EQ(between(disturbed({kStock, near}), near, kStock).word, Word::unsure);
}

// Whoever spoils rounds must gain nothing by it.
TEST(BoundsTest, NoKernelOfAUserIsFasterByABound) {
  SampleKernel fast = kYours;
  fast.us = kStock.us / 30;
  const ProblemRecord problem = disturbed({fast, kStock});
  EXPECT_EQ(between(problem, fast, kStock).word, Word::unsure);
  EXPECT_EQ(between(problem, kStock, fast).word, Word::unsure);
}

// He fools nobody but himself.
TEST(BoundsTest, ButThanAnotherOfTheSameUser) {
  SampleKernel fast = kYours;
  fast.name = "fast";
  fast.us = kYours.us / 30;
  const ProblemRecord problem = disturbed({fast, kYours, kStock});
  RunOptions now = options();
  now.rules = kRulesOfBoundsBetweenUsers;
  EXPECT_EQ(between(problem, fast, kYours, now).word, Word::faster);
  EXPECT_EQ(between(problem, kYours, fast, now).word, Word::slower);
  EXPECT_EQ(between(problem, fast, kYours).word, Word::unsure);
}

TEST(BoundsTest, NorIsOneOfOursThanStock) {
  EXPECT_EQ(between(disturbed({kOurs, kSlowStock}), kOurs, kSlowStock).word, Word::unsure);
  EXPECT_EQ(between(disturbed({kOurs, kYours}), kYours, kOurs).word, Word::slower);
}

TEST(BoundsTest, StockKernelsHaveAWordBetweenThem) {
  EXPECT_EQ(between(disturbed({kStock, kSlowStock}), kSlowStock, kStock).word, Word::slower);
}

// The process that ran the kernel may say what it likes of its own clock.
TEST(BoundsTest, ClocksInsideAreNotBelieved) {
  ProblemRecord problem = disturbed({kStock, kYours});
  for (ProcessSamples& process : problem.confirmations[0].processes) {
    process.kernels[0].outside_ns.clear();
    process.kernels[0].ran_most_ns.clear();
  }
  EXPECT_EQ(between(problem, kYours, kStock).word, Word::unsure);
}

TEST(BoundsTest, ItsTimeIsShownAndSaidToBeDisturbed) {
  const ProblemRecord problem = disturbed({kStock, kYours});
  const Conclusion conclusion = conclude(problem, problem.confirmations[0], options());
  EXPECT_TRUE(conclusion.is_disturbed(id_of(kYours)));
  EXPECT_NEAR(conclusion.median_us(id_of(kYours)), 30'000, 100);
  ASSERT_TRUE(conclusion.headline);
  EXPECT_EQ(conclusion.headline->verdict.word, Word::slower);
}

TEST(BoundsTest, SamplesReadAsTheyWereWritten) {
  const ProblemRecord problem = disturbed({kStock, kYours});
  const ProcessSamples& process = problem.confirmations[0].processes[0];
  const auto document = parse_json_document(to_json(process).dump(), "samples");
  ASSERT_TRUE(document);
  const auto again = read_process_samples(JsonField(*document));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, process);
}

TEST(BoundsTest, ProcessorTimesAreOfSpoiledRounds) {
  const ProblemRecord problem = disturbed({kStock, kYours});
  Json json = to_json(problem.confirmations[0].processes[0]);
  json["kernels"][0]["spoiled_ran_most_ns"].push_back(5);
  const auto document = parse_json_document(json.dump(), "samples");
  ASSERT_TRUE(document);
  const auto again = read_process_samples(JsonField(*document));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("41 spoiled rounds"), std::string::npos)
      << again.error().message;
}

}  // namespace
}  // namespace assay
