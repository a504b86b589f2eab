#include "assay/record/problem_row.h"

#include <gtest/gtest.h>

#include "assay/record/bounds.h"
#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using testing::make_problem;
using testing::SampleKernel;

const SampleKernel kMine{"mine", "skinny", KernelRole::ours, 9, 64};
const SampleKernel kStock{"openblas", "gemm", KernelRole::stock, 10, 0};

TEST(ProblemRowTest, TheVerdictMayBeTheWinnersOwn) {
  const ProblemRecord problem = make_problem("p", {kMine, kStock});
  const ProblemRow row = row_of(problem);
  EXPECT_EQ(row.winner->name, "skinny");
  EXPECT_NEAR(row.us, 9, 0.1);
  EXPECT_EQ(row.of, VerdictOf::winner);
}

TEST(ProblemRowTest, OrThatOfAnotherKernel) {
  SampleKernel better = kMine;
  better.name = "wide";
  better.us = 8;
  // "skinny" was to have the verdict, and "wide" won.
  ProblemRecord problem = make_problem("p", {kMine, better, kStock});
  Confirmation& confirmation = problem.confirmations[0];
  confirmation.leader = assay::testing::id_of("mine", "wide");
  confirmation.conclusion = conclude(problem, confirmation, {});
  const ProblemRow row = row_of(problem);
  EXPECT_EQ(row.winner->name, "wide");
  EXPECT_EQ(row.verdict->candidate, assay::testing::id_of("mine", "skinny"));
  EXPECT_NEAR(row.us, 8, 0.1);
  EXPECT_NEAR(row.verdict_us, 9, 0.1);
  EXPECT_EQ(row.of, VerdictOf::behind);
}

TEST(ProblemRowTest, OrOfOneThatTied) {
  SampleKernel twin = kMine;
  twin.name = "twin";
  twin.workspace_bytes = 0;  // Ties go to the smaller workspace.
  const ProblemRecord problem = make_problem("p", {kMine, twin, kStock});
  const ProblemRow row = row_of(problem);
  EXPECT_EQ(row.winner->name, "twin");
  EXPECT_EQ(row.verdict->candidate, assay::testing::id_of("mine", "skinny"));
  EXPECT_EQ(row.of, VerdictOf::tied);
}

TEST(ProblemRowTest, StockAloneIsSaidAndNothingHasNoRow) {
  const ProblemRow stock = row_of(make_problem("p", {kStock}));
  EXPECT_TRUE(stock.is_stock);
  ProblemRecord none = make_problem("p", {kStock});
  none.confirmations.clear();
  const ProblemRow row = row_of(none);
  EXPECT_EQ(row.winner, nullptr);
  EXPECT_EQ(row.verdict, nullptr);
}

std::vector<std::string> parts(const ProblemRecord& problem, Defaults defaults = {}) {
  std::vector<std::string> texts;
  for (const PartRow& row : parts_of(problem, defaults))
    texts.push_back(fmt::format("{} {}{}", to_string(row.part), row.kernel->name,
                                row.verdict == nullptr ? "" : ", verdict"));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PartsTest, EachRowIsOfOneKernel) {
  EXPECT_EQ(parts(make_problem("p", {kMine, kStock})),
            (Texts{"winner skinny, verdict", "stock gemm"}));
  SampleKernel yours{"cpp_source", "mine", KernelRole::user, 20, 0};
  const SampleKernel standard{"onednn", "matmul", KernelRole::stock, 12, 0};
  EXPECT_EQ(parts(make_problem("p", {kStock, yours})),
            (Texts{"yours mine, verdict", "winner gemm"}));
  ProblemRecord problem = make_problem("p", {kMine, kStock, yours, standard});
  problem.confirmations[0].candidate = testing::id_of(yours);
  problem.confirmations[0].baseline = testing::id_of(standard);
  problem.confirmations[0].conclusion = conclude(problem, problem.confirmations[0], {});
  EXPECT_EQ(parts(problem), (Texts{"yours mine, verdict", "stock gemm", "winner skinny"}));
  EXPECT_EQ(parts(problem, Defaults::always),
            (Texts{"yours mine, verdict", "stock gemm", "winner skinny", "default matmul"}));
}

TEST(PartsTest, TheShareOfTheCeilingIsEachKernelsOwn) {
  const auto rows = parts_of(make_problem("p", {kMine, kStock}));
  EXPECT_NEAR(rows[0].ceiling_share, 0.68, 1e-9);
  EXPECT_NEAR(rows[1].ceiling_share, 0.68 * rows[0].us / rows[1].us, 1e-9);
}

// Where nobody brought a kernel, the question is what the winner is worth.
TEST(PartsTest, WithoutAKernelOfTheUsersTheVerdictIsTheWinners) {
  SampleKernel slow = kMine;
  slow.us = 11;
  const SampleKernel standard{"onednn", "matmul", KernelRole::stock, 12, 0};
  RunOptions options;
  options.rules = kRulesOfBounds;
  ProblemRecord problem = make_problem("p", {kStock, slow, standard}, options);
  problem.confirmations[0].baseline = testing::id_of(standard);
  problem.confirmations[0].conclusion = conclude(problem, problem.confirmations[0], options);
  EXPECT_EQ(parts(problem), (Texts{"winner gemm, verdict", "default matmul"}));
}

}  // namespace
}  // namespace assay
