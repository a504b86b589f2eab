#include "assay/measure/held_signals.h"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

volatile int handled = 0;
void count(int) { handled = handled + 1; }

TEST(HeldSignals, ASignalWaitsUntilTheyAreNotHeld) {
  handled = 0;
  ASSERT_NE(std::signal(SIGUSR1, count), SIG_ERR);
  {
    HeldSignals signals;
    std::raise(SIGUSR1);
    EXPECT_TRUE(signals.hold_on());
    EXPECT_EQ(handled, 0);
  }
  EXPECT_EQ(handled, 1);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST(HeldSignals, WhoLetsOneInIsSeen) {
  HeldSignals signals;
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGUSR1);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  EXPECT_FALSE(signals.hold_on());
  EXPECT_TRUE(signals.hold_on());
}

}  // namespace
}  // namespace assay::measure
