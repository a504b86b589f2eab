#include "assay/worker/armed_code.h"

#include <csignal>
#include <sys/time.h>

#include <gmock/gmock.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void nothing(int) {}

TEST(ArmedCode, AHandlerIsNamed) {
  const ArmedCode armed = ArmedCode::look();
  EXPECT_THAT(armed.find_more(), IsEmpty());
  std::signal(SIGUSR2, SIG_IGN);  // Runs nothing.
  EXPECT_THAT(armed.find_more(), IsEmpty());
  std::signal(SIGUSR2, nothing);
  EXPECT_THAT(armed.find_more(), HasSubstr("SIGUSR2"));
  EXPECT_THAT(ArmedCode::look().find_more(), IsEmpty());
  std::signal(SIGUSR2, SIG_DFL);
}

TEST(ArmedCode, TimersAreFound) {
  const ArmedCode armed = ArmedCode::look();
  const itimerval hour{{}, {3600, 0}}, none{};
  ::setitimer(ITIMER_REAL, &hour, nullptr);
  EXPECT_THAT(armed.find_more(), HasSubstr("timer"));
  ::setitimer(ITIMER_REAL, &none, nullptr);
  EXPECT_THAT(armed.find_more(), IsEmpty());
  timer_t timer;
  sigevent silent{};
  silent.sigev_notify = SIGEV_NONE;
  ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, &silent, &timer), 0);
  EXPECT_THAT(armed.find_more(), HasSubstr("timer"));
  ::timer_delete(timer);
  EXPECT_THAT(armed.find_more(), IsEmpty());
}

}  // namespace
}  // namespace assay::sweep
