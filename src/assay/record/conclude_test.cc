#include "assay/record/conclude.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/bounds.h"
#include "assay/record/plain_verdict.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using stats::Word;
using testing::make_problem;
using testing::SampleKernel;

const SampleKernel kMine{"mine", "skinny", KernelRole::ours, 9, 64};
const SampleKernel kStock{"openblas", "gemm", KernelRole::stock, 10, 0};
const SampleKernel kOtherStock{"onednn", "matmul", KernelRole::stock, 9.3, 128};

Conclusion concluded(const std::vector<SampleKernel>& kernels) {
  return make_problem("p", kernels).confirmations[0].conclusion;
}

TEST(ConcludeTest, TheHeadlineIsAgainstTheBestStockKernel) {
  const Conclusion conclusion = concluded({kMine, kStock, kOtherStock});
  EXPECT_EQ(conclusion.winner, testing::id_of("mine", "skinny"));
  ASSERT_TRUE(conclusion.headline.has_value());
  EXPECT_EQ(conclusion.headline->other, testing::id_of("onednn", "matmul"));
  EXPECT_EQ(conclusion.headline->verdict.word, Word::faster);
  EXPECT_NEAR(conclusion.headline->verdict.ratio, 9.3 / 9, 0.004);
  EXPECT_EQ(conclusion.against_stock.size(), 2u);
  EXPECT_EQ(conclusion.tied, std::vector<std::string>{testing::id_of("mine", "skinny")});
  EXPECT_NEAR(conclusion.median_us(testing::id_of("mine", "skinny")), 9, 0.05);
  EXPECT_EQ(conclusion.median_us("nobody"), 0);
}

TEST(ConcludeTest, TiesGoToTheIncumbentWhateverTheOrder) {
  SampleKernel twin = kStock;
  twin.provider = "mine";
  twin.role = KernelRole::ours;
  const Conclusion conclusion = concluded({twin, kStock});
  EXPECT_EQ(conclusion.winner, testing::id_of("openblas", "gemm"));
  EXPECT_EQ(conclusion.tied.size(), 2u);
  EXPECT_EQ(conclusion.headline->candidate, testing::id_of("mine", "gemm"));
  EXPECT_EQ(conclusion.headline->verdict.word, Word::same);
}

TEST(ConcludeTest, WithoutKernelsOfOursTheBestStockStandsAgainstTheDefault) {
  ProblemRecord problem = make_problem("p", {kOtherStock, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.baseline = testing::id_of("openblas", "gemm");
  const Conclusion conclusion = conclude(problem, confirmation, {});
  EXPECT_EQ(conclusion.headline->candidate, testing::id_of("onednn", "matmul"));
  EXPECT_EQ(conclusion.headline->other, testing::id_of("openblas", "gemm"));
  EXPECT_EQ(conclusion.headline->verdict.word, Word::faster);
}

// An operation that no library knows.
TEST(ConcludeTest, WithoutStockKernelsAUsersIsHeldAgainstTheBestOfOurs) {
  const SampleKernel users{"cpp_source", "norm", KernelRole::user, 8, 0};
  const SampleKernel other{"mine", "fat", KernelRole::ours, 9.5, 0};
  RunOptions options;
  options.rules = kRulesWithoutStock;
  const ProblemRecord problem = make_problem("p", {users, kMine, other}, options);
  const Conclusion& conclusion = problem.confirmations[0].conclusion;
  EXPECT_EQ(rivals_of(problem), KernelRole::ours);
  ASSERT_TRUE(conclusion.headline.has_value());
  EXPECT_EQ(conclusion.headline->candidate, testing::id_of("cpp_source", "norm"));
  EXPECT_EQ(conclusion.headline->other, testing::id_of("mine", "skinny"));
  EXPECT_EQ(conclusion.headline->verdict.word, Word::faster);
  EXPECT_EQ(conclusion.against_stock.size(), 2u);
  // Earlier records said nothing there, and still do.
  options.rules = kRulesWithoutStock - 1;
  EXPECT_FALSE(conclude(problem, problem.confirmations[0], options).headline.has_value());
  // Nor is anything said of ours, or where a stock kernel takes the problem and fell.
  options.rules = kRulesWithoutStock;
  EXPECT_FALSE(make_problem("p", {kMine, other}, options).headline());
  ProblemRecord fallen = make_problem("p", {users, kMine, kStock}, options);
  EXPECT_EQ(rivals_of(fallen), KernelRole::stock);
  fallen.kernels[2].ending = ending::Crash{11, 0, "confirm", ""};
  EXPECT_FALSE(conclude(fallen, fallen.confirmations[0], options).headline.has_value());
}

TEST(ConcludeTest, TheDefaultAgainstItselfIsTheSame) {
  const Conclusion conclusion = concluded({kStock});
  EXPECT_EQ(conclusion.headline->other, conclusion.headline->candidate);
  EXPECT_EQ(conclusion.headline->verdict.word, Word::same);
  EXPECT_EQ(conclusion.headline->verdict.ratio, 1);
}

TEST(ConcludeTest, AKernelThatFellOutNeitherWinsNorStandsForStock) {
  ProblemRecord problem = make_problem("p", {kMine, kStock, kOtherStock});
  problem.kernels[2].ending = ending::Crash{11, 0, "confirm", ""};
  const Conclusion conclusion = conclude(problem, problem.confirmations[0], {});
  EXPECT_EQ(conclusion.against_stock.size(), 1u);
  EXPECT_EQ(conclusion.headline->other, testing::id_of("openblas", "gemm"));
  problem.kernels[0].ending = ending::Mismatch{"out[0] = nan"};
  const Conclusion leaderless = conclude(problem, problem.confirmations[0], {});
  EXPECT_EQ(leaderless.winner, "");
  EXPECT_FALSE(leaderless.headline.has_value() &&
               leaderless.headline->candidate == testing::id_of("mine", "skinny"));
}

// Whoever races until a race says `faster`: of intervals that say so by chance, all together are
// one in fifty at most.
TEST(ConcludeTest, EveryFurtherConfirmationOfAKernelHasAWiderInterval) {
  ProblemRecord problem = make_problem("p", {kMine, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  double before = 0, spent = 0;
  for (confirmation.earlier = 0; confirmation.earlier < 100; ++confirmation.earlier) {
    const stats::Verdict verdict = conclude(problem, confirmation, {}).headline->verdict;
    const double width = std::log(verdict.high / verdict.low);
    EXPECT_GE(width, before) << confirmation.earlier;
    if (confirmation.earlier == 1) {
      EXPECT_GT(width, 1.1 * before);
    }
    before = width;
    spent += 1 - judge_options({}, confirmation).confidence;
  }
  EXPECT_NEAR(judge_options({}, problem.confirmations[0]).confidence, 1, 1e-5);
  EXPECT_LT(spent, 2 * 0.01);
}

TEST(ConcludeTest, TooFewProcessesEndUnsure) {
  ProblemRecord problem = make_problem("p", {kMine, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.processes.resize(5);
  EXPECT_EQ(conclude(problem, confirmation, {}).headline->verdict.word, Word::unsure);
  confirmation.processes.clear();
  const Conclusion empty = conclude(problem, confirmation, {});
  EXPECT_EQ(empty.headline->verdict.word, Word::unsure);
  EXPECT_EQ(empty.times[0].median_us, 0);
}

TEST(ConcludeTest, BurstsOfDifferentLengthCompareByLaunch) {
  ProblemRecord problem = make_problem("p", {kMine, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  for (ProcessSamples& process : confirmation.processes) {
    process.kernels[0].launches *= 3;
    for (std::int64_t& ns : process.kernels[0].burst_ns) ns *= 3;
  }
  EXPECT_NEAR(conclude(problem, confirmation, {}).headline->verdict.ratio, 10.0 / 9, 0.005);
}

TEST(ConcludeTest, EveryEditOfASampleShows) {
  ProblemRecord problem = make_problem("p", {kMine, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  const Conclusion before = confirmation.conclusion;
  EXPECT_EQ(conclude(problem, confirmation, {}).evidence_hash, before.evidence_hash);
  confirmation.processes[3].kernels[1].burst_ns[7] += 1;
  EXPECT_NE(conclude(problem, confirmation, {}).evidence_hash, before.evidence_hash);
  confirmation.processes[3].kernels[1].burst_ns[7] -= 1;
  confirmation.processes[3].kernels[1].clean[8] ^= 1;
  EXPECT_NE(conclude(problem, confirmation, {}).evidence_hash, before.evidence_hash);
  confirmation.processes[3].kernels[1].clean[8] ^= 1;
  EXPECT_EQ(conclude(problem, confirmation, {}).evidence_hash, before.evidence_hash);
}

TEST(ConcludeTest, EveryEditOfWhatTheSamplesAreOfShows) {
  const ProblemRecord problem = make_problem("p", {kMine, kStock});
  const auto hash = [](const ProblemRecord& edited) {
    return conclude(edited, edited.confirmations[0], {}).evidence_hash;
  };
  const std::string before = hash(problem);
  const std::function<void(ProblemRecord&)> edits[] = {
      [](ProblemRecord& edited) { edited.condition.cache = "warm"; },
      [](ProblemRecord& edited) { edited.race_class.preparation = "none"; },
      [](ProblemRecord& edited) { edited.problem["m"] = 8; },
      [](ProblemRecord& edited) { edited.key += "x"; },
      [](ProblemRecord& edited) { edited.flops *= 2; },
      [](ProblemRecord& edited) { edited.bytes *= 2; },
      [](ProblemRecord& edited) { edited.kernels[0].name = "other"; },
      [](ProblemRecord& edited) { edited.kernels[1].provider = "other"; },
      [](ProblemRecord& edited) { edited.kernels[1].artifact_hash = "other"; }};
  for (const auto& edit : edits) {
    ProblemRecord edited = problem;
    edit(edited);
    EXPECT_NE(hash(edited), before) << &edit - edits;
  }
}

TEST(ConcludeTest, TheFastestOfThoseAheadLeadsNext) {
  Conclusion conclusion;
  EXPECT_EQ(next_leader(conclusion), "");
  const auto against = [](const char* id, double ratio) {
    PairVerdict pair{id, "leader", {}};
    pair.verdict.ratio = ratio;
    return pair;
  };
  conclusion.against_leader = {against("a", 1.04), against("b", 1.24), against("c", 2)};
  EXPECT_EQ(next_leader(conclusion), "");
  conclusion.ahead = {"a", "b"};
  EXPECT_EQ(next_leader(conclusion), "b");
}

TEST(ConcludeTest, AMarginOfItsOwnChangesTheWord) {
  const ProblemRecord problem = make_problem("p", {kMine, kStock});
  RunOptions wide;
  wide.margin = 0.2;
  EXPECT_EQ(conclude(problem, problem.confirmations[0], wide).headline->verdict.word,
            Word::slightly_faster);
}

TEST(ConcludeTest, ATimeHasAnIntervalOverItsProcesses) {
  const ProblemRecord problem =
      testing::make_problem("p", {{"openblas", "gemm", KernelRole::stock, 20}});
  const auto& processes = problem.confirmations[0].processes;
  const auto interval = time_interval_us(processes, testing::id_of("openblas", "gemm"), {});
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->samples, 7);
  EXPECT_LT(interval->low, interval->centre);
  EXPECT_LT(interval->centre, interval->high);
  EXPECT_NEAR(interval->low, 20, 0.2);
  EXPECT_NEAR(interval->high, 20, 0.2);
  EXPECT_FALSE(time_interval_us(processes, "nobody", {}).has_value());
  EXPECT_FALSE(
      time_interval_us({processes.data(), 3}, testing::id_of("openblas", "gemm"), {}).has_value());
}

}  // namespace
}  // namespace assay
