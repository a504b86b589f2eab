#include "cli/show/race_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli/files/run_files.h"
#include "cli/flags/chosen_kernels.h"
#include "cli/show/show_run.h"

namespace assay::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

KernelOutcome kernel(const std::string& family, Ending ending) {
  KernelOutcome outcome;
  outcome.id = family;
  outcome.provider = "cpp_source";
  outcome.name = family;
  outcome.role = KernelRole::user;
  outcome.metadata = MetadataJson(Json{{"family", family}});
  outcome.ending = std::move(ending);
  return outcome;
}

TEST(RaceTextTest, ShowsTheCompilersLinesWithoutTheirEscapes) {
  ProblemRecord problem;
  problem.kernels.push_back(
      kernel("gemm", ending::BuildFailure{"my.cc:1: no\n\033[31mmy.cc:3: error: bad\n"}));
  const std::string text = evidence_text(problem, {});
  EXPECT_THAT(text, HasSubstr("my.cc:3: error: bad"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(RaceTextTest, AFallenKernelOfTheUsersFailsTheRace) {
  RunRecord record;
  record.problems.emplace_back();
  record.problems[0].kernels.push_back(kernel("gemm", ending::Crash{11, 0, "verify", ""}));
  EXPECT_FALSE(all_stood(record, {{"my.cc", {"gemm"}}}));
}

TEST(RunExitCodeTest, NothingLaunchedIsFourAndNoWinnerIsOne) {
  FinishedRun run;
  run.record.problems.emplace_back();
  EXPECT_EQ(run_exit_code(run), kNothingRan);
  run.any_launched = was_launched(kernel("gemm", ending::BuildFailure{"no"}));
  EXPECT_EQ(run_exit_code(run), kNothingRan);
  run.any_launched = was_launched(kernel("other", ending::Mismatch{"out[0]"}));
  EXPECT_EQ(run_exit_code(run), kRefuted);
}

TEST(TimedExitCodeTest, RightWithoutATimeIsNotDone) {
  RunRecord record;
  record.problems.emplace_back();
  record.problems[0].kernels.push_back(kernel("gemm", ending::Timed{}));
  KernelOutcome& outcome = record.problems[0].kernels[0];
  outcome.race = RaceSummary{12, 0, 0, 0, "no clean round of 12"};
  EXPECT_EQ(timed_exit_code(record), kRefuted);
  outcome.race->median_us = 3;
  EXPECT_EQ(timed_exit_code(record), kDone);
}

TEST(RaceTextTest, WhatStandsInTheVerdictIsNotQuotedAgain) {
  ProblemRecord problem;
  problem.kernels.push_back(kernel("gemm", ending::BuildFailure{"my.cc:1: no\n"}));
  EXPECT_EQ(evidence_text(problem, {}), "");
}

TEST(ResultsFileNameTest, KeepsTheNamesThatScriptsKnow) {
  EXPECT_EQ(results_file_name("openblas"), "openblas_results.json");
  EXPECT_EQ(results_file_name("cutlass"), "cutlass_profiler_results.json");
  EXPECT_EQ(results_file_name("triton"), "triton_matmul_results.json");
}

TEST(ProblemLogTest, NamesEveryKernelWithItsEnding) {
  ProblemRecord problem;
  problem.name = "one";
  problem.kernels.push_back(
      kernel("gemm", ending::BuildFailure{"my.cc:1: no\nmy.cc:3: error: bad\n"}));
  problem.no_winner = "no kernel was proven right and timed";
  problem.refusals["layout"] = {3, "a is tn; this takes tt"};
  const std::string log = problem_log(problem);
  EXPECT_THAT(log, HasSubstr("kernel cpp_source/gemm"));
  EXPECT_THAT(log, HasSubstr("| my.cc:3: error: bad"));
  EXPECT_THAT(log, HasSubstr("a is tn; this takes tt"));
  EXPECT_THAT(log, HasSubstr("no winner: no kernel was proven right"));
}

}  // namespace
}  // namespace assay::cli
