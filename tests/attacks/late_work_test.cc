// Kernels that leave their work for the time after the clock has stopped, and have it done by the
// time that somebody looks.

#include <string>

#include <gmock/gmock.h>

#include "tests/attacks/attack_run.h"

namespace assay {
namespace {

using ::testing::AnyOf;
using testing::AssayProgram;
using ::testing::HasSubstr;
using ::testing::Matcher;

constexpr const char* kChanged = "changed after its launch had returned";
// Of a thread that the machine kept from working until somebody looked.
constexpr const char* kUnwritten = "timed launch is wrong";

struct Late {
  std::string file;  // tests/attacks/kernels/<file>.cc.
  Matcher<std::string> sentence;
};

class LateWorkTest : public ::testing::TestWithParam<Late> {};

TEST_P(LateWorkTest, IsSeenAndClaimsNothing) {
  const AssayProgram assay;
  testing::AttackRun run;
  run.shape = "m=4,n=512,k=512,dtype=f32,layout=tt";
  run.more = {"--exhaustive"};
  const testing::Finished finished = assay.run(run.words({GetParam().file}));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  const ProblemRecord& problem = record->problems.at(0);
  const KernelOutcome* kernel =
      testing::find_kernel(problem, testing::attack_name(GetParam().file));
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(ending_sentence(kernel->ending), GetParam().sentence);
  const KernelOutcome* good = testing::find_kernel(problem, "good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
  ASSERT_NE(problem.winner(), nullptr) << problem.no_winner;
  EXPECT_EQ(problem.winner()->name, "good");
}

INSTANTIATE_TEST_SUITE_P(
    Ways, LateWorkTest,
    ::testing::Values(
        Late{"47_sleeping_thread", AnyOf(HasSubstr(kChanged), HasSubstr(kUnwritten))},
        Late{"48_long_sleeper", AnyOf(HasSubstr(kChanged), HasSubstr(kUnwritten))},
        Late{"49_timer_signal", AnyOf(HasSubstr("handler of SIGALRM"), HasSubstr(kChanged))},
        Late{"50_timer_of_a_thread",
             AnyOf(HasSubstr("set a timer"), HasSubstr(kChanged), HasSubstr(kUnwritten))},
        Late{"51_fault_handler", HasSubstr("handler of SIGSEGV")},
        Late{"52_hidden_fault_handler", HasSubstr("unblocked signals")}),
    [](const auto& test) { return testing::attack_name(test.param.file); });

TEST(ServedFaultsTest, NoThreadIsHandedTheFaultsOfWhoReads) {
  const AssayProgram assay;
  const testing::Finished finished = assay.run(
      {"sweep", "--shape", "m=24,n=40,k=57,dtype=f32,layout=tt", "--provider", "cpp_source",
       "--threads", "1", "--budget", "1s", "--processes", "2", "--output-dir", "run", "--kernels",
       AssayProgram::source("tests/attacks/kernels/53_served_faults.cc")});
  const auto record = load_record(assay.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message << finished.err;
  const KernelOutcome* kernel = testing::find_kernel(record->problems.at(0), "served_faults");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(is_timed(kernel->ending)) << ending_sentence(kernel->ending);
}

}  // namespace
}  // namespace assay
