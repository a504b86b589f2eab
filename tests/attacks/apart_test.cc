// Kernels that work on cores or in moments that were not given to them, that choose which rounds
// count, or that spoil their rivals: each is found, or gains nothing, and no rival falls.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using ::testing::AnyOf;
using testing::AssayProgram;
using ::testing::HasSubstr;
using ::testing::Matcher;
using testing::RaceOptions;

struct Apart {
  std::string file;             // tests/attacks/kernels/<file>.cc.
  Matcher<std::string> ending;  // ending_name().
  Matcher<std::string> sentence = HasSubstr("");
};

ProblemRecord problem_of(const AssayProgram& assay, const RaceOptions& options) {
  testing::Running running = assay.start(testing::race_words(options));
  const testing::Finished finished = running.wait();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(running.leaves_nothing());
  const auto record = load_record(assay.file("run/record.json"));
  EXPECT_TRUE(record) << record.error().message;
  const testing::Finished again =
      assay.run({"compare", "--recompute", assay.file("run/record.json")});
  EXPECT_EQ(again.code(), 0) << again.out << again.err;
  return record ? record->problems.at(0) : ProblemRecord();
}

class ApartTest : public ::testing::TestWithParam<Apart> {};

TEST_P(ApartTest, IsFoundAndTakesNobodyWithIt) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {GetParam().file},
                         .shapes = {"m=64,n=256,k=256,dtype=f32,layout=tt"},
                         .budget = "2s",
                         .more = {"--exhaustive"}});
  const KernelOutcome* kernel = testing::find_kernel(problem, testing::kernel_of(GetParam().file));
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(std::string(ending_name(kernel->ending)), GetParam().ending)
      << ending_sentence(kernel->ending);
  EXPECT_THAT(ending_sentence(kernel->ending), GetParam().sentence);
  EXPECT_FALSE(testing::is_called_faster(problem, *kernel));
  const KernelOutcome* good = testing::find_kernel(problem, "good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
  ASSERT_NE(problem.winner(), nullptr) << problem.no_winner;
}

const Matcher<std::string> kProcessorTime =
    AnyOf(HasSubstr("processor time"), HasSubstr("its threads worked"));

INSTANTIATE_TEST_SUITE_P(
    Ways, ApartTest,
    ::testing::Values(Apart{"57_second_core", "violation", kProcessorTime},
                      Apart{"57_short_threads", "violation", kProcessorTime},
                      Apart{"31_warm_helper", "violation", HasSubstr("background_work")},
                      Apart{"42_child_process", "violation", HasSubstr("background_work")},
                      Apart{"56_ahead_of_clock", "violation", kProcessorTime},
                      Apart{"65_wakes_itself", "violation", HasSubstr("background_work")},
                      Apart{"59_own_rounds_spoiled", "timed"},
                      Apart{"62_forged_start", AnyOf("timed", "violation")},
                      Apart{"62_moved_start", AnyOf("timed", "violation")},
                      Apart{"62_operands_elsewhere", "violation",
                            HasSubstr("what its process keeps about the race")},
                      Apart{"63_rivals_outputs", AnyOf("timed", "violation", "mismatch", "crash")},
                      Apart{"64_all_mappings",
                            AnyOf("timed", "crash", "out_of_memory", "mismatch", "violation")},
                      Apart{"64_all_descriptors",
                            AnyOf("timed", "crash", "mismatch", "violation", "out_of_memory")}),
    [](const auto& test) { return testing::kernel_of(test.param.file); });

// A launch that nobody times comes ahead of a burst: what it read is in no cache when that begins,
// nor what a thread read that it woke.
class LeadInTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LeadInTest, WhatAnUntimedLaunchReadIsColdAgain) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {GetParam()},
                         .shapes = {"m=4,n=160,k=320,dtype=f32,layout=tt"},
                         .budget = "2s",
                         .processes = 7,
                         .more = {"--exhaustive"},
                         .files = {AssayProgram::source("tests/attacks/twins/looking.cc")}});
  const KernelOutcome* kernel = testing::find_kernel(problem, testing::kernel_of(GetParam()));
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(std::string(ending_name(kernel->ending)), AnyOf("timed", "violation"))
      << ending_sentence(kernel->ending);
  EXPECT_FALSE(testing::is_called_faster(problem, *kernel));
}

INSTANTIATE_TEST_SUITE_P(Ways, LeadInTest,
                         ::testing::Values("32_warmed_ahead", "32_woken_behind_lead_in"),
                         [](const auto& test) { return testing::kernel_of(test.param); });

// Of a burst of a user's kernel that is looked at, every launch is.
TEST(LooksTest, ALaunchLeftOutOfManyIsFound) {
  const AssayProgram assay;
  const ProblemRecord problem = problem_of(assay, {.kernels = {"08_one_launch_of_many"},
                                                   .shapes = {"m=1,n=64,k=64,dtype=f32,layout=tt"},
                                                   .budget = "2s"});
  const KernelOutcome* kernel = testing::find_kernel(problem, "one_launch_of_many");
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(std::string(ending_name(kernel->ending)), "mismatch")
      << ending_sentence(kernel->ending);
  EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr("an output of a timed launch is wrong"));
}

// Whatever a user's kernel pretends before anybody looks, it meets the best of them.
TEST(CompanyTest, TheFirstLookDropsNoStockKernelOfRank) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {"59_fast_at_first_look"},
                         .shapes = {"m=64,n=64,k=256,dtype=f32,layout=tt"},
                         .budget = "2s",
                         .more = {"--provider", "libxsmm,openblas,blis"},
                         .files = {}});
  ASSERT_NE(problem.decisive(), nullptr);
  int stock = 0;
  for (const std::string& id : problem.decisive()->finalists)
    stock += problem.find(id)->role == KernelRole::stock ? 1 : 0;
  EXPECT_GE(stock, 2);
}

// Nor are its bursts made of more launches than those of others, which would share among more what
// a burst costs once; whoever is faster has no more than others, either.
TEST(CompanyTest, BurstsOfFinalistsHaveAsManyLaunches) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {"59_fast_at_first_look"},
                         .shapes = {"m=10,n=120,k=217,dtype=f32,layout=tt"},
                         .budget = "2s",
                         .more = {"--provider", "libxsmm", "--exhaustive"},
                         .files = {AssayProgram::source("tests/attacks/twins/plain.cc")}});
  ASSERT_NE(problem.decisive(), nullptr);
  ASSERT_FALSE(problem.decisive()->processes.empty());
  for (const ProcessSamples& process : problem.decisive()->processes) {
    ASSERT_GE(process.kernels.size(), 3u);
    for (const KernelSamples& kernel : process.kernels)
      EXPECT_EQ(kernel.launches, process.kernels.front().launches) << problem.label(kernel.id);
  }
}

// Kernels that come with assay stand for the stock ones.
TEST(CompanyTest, StockKernelsStandBesideThoseWhoSpoilTheirProcess) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {"63_rivals_outputs", "64_all_mappings", "64_all_descriptors"},
                         .budget = "2s",
                         .more = {"--provider", "libxsmm"}});
  int stock = 0;
  for (const KernelOutcome& kernel : problem.kernels) {
    if (kernel.role != KernelRole::stock) continue;
    ++stock;
    EXPECT_TRUE(is_timed(kernel.ending)) << kernel.label() << " " << ending_sentence(kernel.ending);
  }
  EXPECT_GT(stock, 0);
}

// Each user's kernel has a process of its own, and so do two of one file's tunables together.
TEST(CompanyTest, SamplesSayWhoRanInWhichProcess) {
  const AssayProgram assay;
  const ProblemRecord problem =
      problem_of(assay, {.kernels = {"22_shape_lookup"}, .budget = "2s", .more = {"--exhaustive"}});
  ASSERT_NE(problem.decisive(), nullptr);
  std::vector<int> processes;
  for (const KernelSamples& kernel : problem.decisive()->processes.at(0).kernels) {
    processes.push_back(kernel.process);
    EXPECT_EQ(kernel.outside_ns.size(), kernel.burst_ns.size());
  }
  std::ranges::sort(processes);
  EXPECT_EQ(processes, (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace assay
