// Kernels that leave their work for the time after the clock has stopped, and have it done by the
// time that somebody looks.

#include <string>

#include <gmock/gmock.h>

#include "tests/attacks/race.h"

namespace assay {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::kernel_of;
using ::testing::Matcher;
using testing::Race;

constexpr const char* kChanged = "changed after its launch had returned";
// Of a thread that the machine kept from working until somebody looked.
constexpr const char* kUnwritten = "timed launch is wrong";

struct Late {
  std::string file;  // tests/attacks/kernels/<file>.cc.
  Matcher<std::string> sentence;
};

class LateWorkTest : public ::testing::TestWithParam<Late> {};

TEST_P(LateWorkTest, IsSeenAndClaimsNothing) {
  const Race race = Race::run({.kernels = {GetParam().file},
                               .shapes = {"m=4,n=512,k=512,dtype=f32,layout=tt"},
                               .budget = "2s",
                               .more = {"--exhaustive"}});
  EXPECT_EQ(race.finished().code(), 0) << race.finished().err;
  const KernelOutcome* kernel = race.outcome(kernel_of(GetParam().file));
  ASSERT_NE(kernel, nullptr);
  EXPECT_THAT(ending_sentence(kernel->ending), GetParam().sentence);
  const KernelOutcome* good = race.outcome("good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
  EXPECT_EQ(race.winner(), "good");
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
        Late{"52_hidden_fault_handler",
             AnyOf(HasSubstr("unblocked signals"), HasSubstr("crashed"))}),
    [](const auto& test) { return kernel_of(test.param.file); });

// Between the answer that inputs are made from and the look at outputs, on the thread that
// launches.
class BesideTheClockTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BesideTheClockTest, WorkIsSeenAndClaimsNothing) {
  const Race race = Race::run({.kernels = {GetParam()},
                               .shapes = {"m=4,n=64,k=64,dtype=f32,layout=tt"},
                               .budget = "2s",
                               .more = {"--provider", "openblas", "--exhaustive"}});
  EXPECT_EQ(race.finished().code(), 0) << race.finished().err;
  const KernelOutcome* kernel = race.outcome(kernel_of(GetParam()));
  ASSERT_NE(kernel, nullptr);
  // What took it longer need not be work of its launches: that convicts nobody. Its process's clock
  // or others' kernels may speak first.
  if (!is_timed(kernel->ending))
    EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr("(background_work)"));
  EXPECT_FALSE(testing::is_called_faster(race.problem(), *kernel));
  const KernelOutcome* good = race.outcome("good");
  ASSERT_NE(good, nullptr);
  EXPECT_TRUE(is_timed(good->ending)) << ending_sentence(good->ending);
}

INSTANTIATE_TEST_SUITE_P(Ways, BesideTheClockTest,
                         ::testing::Values("62_works_ahead", "62_works_behind"),
                         [](const auto& test) { return kernel_of(test.param); });

TEST(ServedFaultsTest, NoThreadIsHandedTheFaultsOfWhoReads) {
  const Race race = Race::run({.kernels = {"53_served_faults"}, .processes = 2, .files = {}});
  const KernelOutcome* kernel = race.outcome("served_faults");
  ASSERT_NE(kernel, nullptr) << race.finished().err;
  EXPECT_TRUE(is_timed(kernel->ending)) << ending_sentence(kernel->ending);
}

}  // namespace
}  // namespace assay
