#include "assay/sweep/behind_clock.h"

#include <gmock/gmock.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kStock = 0, kPacked = 1, kUsers = 2;

// Bursts of 75 us beside which others take 14 us until outputs were looked at.
BehindClock beside_others(int bursts = 24) {
  BehindClock clock;
  for (int i = 0; i < bursts; ++i) {
    clock.add(kStock, false, 75e3, 14e3);
    clock.add(kPacked, false, 75e3, 13e3);
  }
  return clock;
}

TEST(BehindClock, AsLongAsOthersOrALittleLongerIsHonest) {
  BehindClock clock = beside_others();
  for (int i = 0; i < 24; ++i) {
    clock.add(kUsers, true, 75e3, 19e3);
    EXPECT_THAT(clock.excess(kUsers), IsEmpty());
  }
}

// Whoever hears of a burst may be on its core in one process, and elsewhere in another.
TEST(BehindClock, TwoWaysOfHearingAreNoWork) {
  BehindClock clock;
  for (int i = 0; i < 24; ++i) {
    clock.add(kStock, false, 30e3, 5e3);
    clock.add(kUsers, true, 30e3, 26e3);
  }
  EXPECT_THAT(clock.excess(kUsers), IsEmpty());
}

TEST(BehindClock, AFewDisturbedBurstsConvictNobody) {
  BehindClock clock = beside_others();
  for (int i = 0; i < 24; ++i) {
    clock.add(kUsers, true, 75e3, i % 3 == 0 ? 5e6 : 16e3);
    EXPECT_THAT(clock.excess(kUsers), IsEmpty());
  }
}

TEST(BehindClock, WorkThatWasLeftForThenShows) {
  BehindClock clock = beside_others();
  for (int i = 0; i < 24; ++i) clock.add(kUsers, true, 12e3, 72e3);
  EXPECT_THAT(clock.excess(kUsers),
              HasSubstr("72.0 us passed, where it took kernels of others 14"));
  EXPECT_THAT(clock.excess(kStock), IsEmpty());
}

TEST(BehindClock, NothingIsSaidBeforeEnoughWasSeen) {
  BehindClock few = beside_others(3), alone;
  for (int i = 0; i < 24; ++i) {
    few.add(kUsers, true, 12e3, 72e3);
    alone.add(kUsers, true, 12e3, 72e3);
  }
  EXPECT_THAT(few.excess(kUsers), IsEmpty());
  EXPECT_THAT(alone.excess(kUsers), IsEmpty());
}

}  // namespace
}  // namespace assay::sweep
