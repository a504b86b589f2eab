#include "assay/record/problem_row.h"

#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using testing::make_problem;
using testing::SampleKernel;

const SampleKernel kMine{"mine", "skinny", KernelRole::ours, 9, 64};
const SampleKernel kStock{"openblas", "gemm", KernelRole::stock, 10, 0};

TEST(ProblemRowTest, TheWinnersOwnVerdictHasNoMark) {
  const ProblemRecord problem = make_problem("p", {kMine, kStock});
  const ProblemRow row = row_of(problem);
  EXPECT_EQ(row.winner->name, "skinny");
  EXPECT_NEAR(row.us, 9, 0.1);
  EXPECT_EQ(row.of, VerdictOf::winner);
  EXPECT_EQ(row.marks(), "");
}

TEST(ProblemRowTest, AVerdictOfAnotherKernelIsMarked) {
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
  EXPECT_EQ(row.marks(), "^");
}

TEST(ProblemRowTest, SoIsThatOfOneThatTied) {
  SampleKernel twin = kMine;
  twin.name = "twin";
  twin.workspace_bytes = 0;  // Ties go to the smaller workspace.
  const ProblemRecord problem = make_problem("p", {kMine, twin, kStock});
  const ProblemRow row = row_of(problem);
  EXPECT_EQ(row.winner->name, "twin");
  EXPECT_EQ(row.verdict->candidate, assay::testing::id_of("mine", "skinny"));
  EXPECT_EQ(row.of, VerdictOf::tied);
  EXPECT_EQ(row.marks(), "~");
}

TEST(ProblemRowTest, StockAloneIsMarkedAndNothingHasNoRow) {
  const ProblemRow stock = row_of(make_problem("p", {kStock}));
  EXPECT_TRUE(stock.is_stock);
  EXPECT_EQ(stock.marks(), "+");
  ProblemRecord none = make_problem("p", {kStock});
  none.confirmations.clear();
  const ProblemRow row = row_of(none);
  EXPECT_EQ(row.winner, nullptr);
  EXPECT_EQ(row.verdict, nullptr);
  EXPECT_EQ(row.marks(), "");
}

}  // namespace
}  // namespace assay
