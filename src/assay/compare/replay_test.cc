#include "assay/compare/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using stats::Word;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kMargin = 0.01;

stats::Verdict interval(double low, double high) {
  stats::Verdict verdict;
  verdict.low = low;
  verdict.high = high;
  verdict.ratio = (low + high) / 2;
  return verdict;
}

struct WordCase {
  Word claimed;
  double low, high;
  ReplayWord expected;
};

TEST(ReplayWordTest, IsWhatTheIntervalBearsOut) {
  const WordCase cases[] = {WordCase{Word::faster, 1.02, 1.04, ReplayWord::held},
                            WordCase{Word::faster, 1.002, 1.04, ReplayWord::unsure},
                            WordCase{Word::faster, 1.002, 1.009, ReplayWord::refuted},
                            WordCase{Word::slightly_faster, 1.002, 1.04, ReplayWord::held},
                            WordCase{Word::slightly_faster, 1.05, 1.06, ReplayWord::held},
                            WordCase{Word::slightly_faster, 0.999, 1.04, ReplayWord::unsure},
                            WordCase{Word::slightly_faster, 0.98, 0.999, ReplayWord::refuted},
                            WordCase{Word::same, 0.995, 1.005, ReplayWord::held},
                            WordCase{Word::same, 1.001, 1.009, ReplayWord::held},
                            WordCase{Word::same, 0.98, 1.005, ReplayWord::unsure},
                            WordCase{Word::same, 1.02, 1.03, ReplayWord::refuted},
                            WordCase{Word::same, 0.95, 0.98, ReplayWord::refuted},
                            WordCase{Word::slightly_slower, 0.98, 0.999, ReplayWord::held},
                            WordCase{Word::slightly_slower, 0.98, 1.001, ReplayWord::unsure},
                            WordCase{Word::slightly_slower, 1.001, 1.01, ReplayWord::refuted},
                            WordCase{Word::slower, 0.95, 0.98, ReplayWord::held},
                            WordCase{Word::slower, 0.95, 0.995, ReplayWord::unsure},
                            WordCase{Word::slower, 0.992, 0.999, ReplayWord::refuted},
                            WordCase{Word::unsure, 1.5, 1.6, ReplayWord::unsure}};
  for (const auto& [claimed, low, high, expected] : cases)
    EXPECT_EQ(replay_word(claimed, kMargin, interval(low, high)), expected)
        << stats::to_string(claimed) << " [" << low << ", " << high << "]";
}

TEST(ReplayWordTest, WithoutAnIntervalNothingIsShown) {
  EXPECT_EQ(replay_word(Word::faster, kMargin, stats::Verdict{}), ReplayWord::unsure);
}

// "mine" against stock at this ratio, in samples of their own.
ProblemRecord problem_at(double ratio, std::uint64_t seed) {
  return testing::make_problem("m1_qkv",
                               {{"mine", "skinny", KernelRole::ours, 10 / ratio, 64},
                                {"openblas", "gemm", KernelRole::stock, 10, 0}},
                               {}, {.seed = seed});
}

KernelOutcome& mine_of(ProblemRecord& problem) {
  for (KernelOutcome& kernel : problem.kernels)
    if (kernel.provider == "mine") return kernel;
  ADD_FAILURE() << "no kernel of mine";
  return problem.kernels.front();
}

TEST(JudgeReplayTest, AClaimThatHoldsAgainHasBothSides) {
  const auto claim = judge_replay(problem_at(1.1, 1), problem_at(1.08, 2), kMargin);
  EXPECT_EQ(claim.word, ReplayWord::held);
  EXPECT_EQ(claim.reason, "");
  EXPECT_EQ(claim.candidate, "mine/skinny");
  ASSERT_TRUE(claim.then && claim.now);
  EXPECT_NEAR(claim.then->verdict.ratio, 1.1, 0.01);
  EXPECT_NEAR(claim.now->verdict.ratio, 1.08, 0.01);
  EXPECT_EQ(claim.now->other, "openblas/gemm");
  EXPECT_THAT(claim.differences, IsEmpty());
}

TEST(JudgeReplayTest, AClaimThatTheFreshIntervalExcludesIsRefuted) {
  EXPECT_EQ(judge_replay(problem_at(1.1, 1), problem_at(0.95, 2), kMargin).word,
            ReplayWord::refuted);
}

TEST(JudgeReplayTest, AWrongKernelRefutesAClaimHoweverFast) {
  ProblemRecord fresh = problem_at(1.1, 2);
  mine_of(fresh).ending = ending::Mismatch{"out[0] = 1"};
  const auto claim = judge_replay(problem_at(1.1, 1), fresh, kMargin);
  EXPECT_EQ(claim.word, ReplayWord::refuted);
  EXPECT_THAT(claim.reason, HasSubstr("mine/skinny"));
}

TEST(JudgeReplayTest, AKernelThatDoesNotCompileHereIsGone) {
  ProblemRecord fresh = problem_at(1.1, 2);
  mine_of(fresh).ending = ending::BuildFailure{"no such instruction"};
  EXPECT_EQ(judge_replay(problem_at(1.1, 1), fresh, kMargin).word, ReplayWord::gone);
}

TEST(JudgeReplayTest, AHangShowsNothing) {
  ProblemRecord fresh = problem_at(1.1, 2);
  mine_of(fresh).ending = ending::Timeout{"race", 20};
  EXPECT_EQ(judge_replay(problem_at(1.1, 1), fresh, kMargin).word, ReplayWord::unsure);
}

TEST(JudgeReplayTest, OtherBytesAreSaid) {
  ProblemRecord fresh = problem_at(1.1, 2);
  mine_of(fresh).artifact_hash = "another";
  const auto claim = judge_replay(problem_at(1.1, 1), fresh, kMargin);
  EXPECT_EQ(claim.word, ReplayWord::held);
  EXPECT_THAT(claim.differences, Contains(HasSubstr("mine/skinny is not the same bytes")));
}

TEST(JudgeReplayTest, WithoutAHeadlineNothingWasClaimed) {
  ProblemRecord recorded = problem_at(1.1, 1);
  recorded.confirmations.clear();
  recorded.no_winner = "no kernel was proven right";
  const auto claim = claim_of(recorded);
  EXPECT_EQ(claim.word, ReplayWord::unsure);
  EXPECT_FALSE(claim.then);
  EXPECT_THAT(claim.reason, HasSubstr("no kernel was proven right"));
}

TEST(ReplayDifferencesTest, SaysWhatChangedBetweenTheRuns) {
  const RunRecord recorded = testing::make_record();
  RunRecord fresh = testing::make_record();
  EXPECT_THAT(replay_differences(recorded, fresh), IsEmpty());
  fresh.environment.device.id = "cpu-9999";
  fresh.environment.libraries.clear();
  fresh.environment.compiler = "g++ 13.1.0";
  const auto differences = replay_differences(recorded, fresh);
  EXPECT_THAT(differences, Contains(HasSubstr("device differs")));
  EXPECT_THAT(differences, Contains(HasSubstr("openblas 0.3.21 took part then and is not here")));
  EXPECT_THAT(differences, Contains(HasSubstr("compiler differs")));
}

}  // namespace
}  // namespace assay
