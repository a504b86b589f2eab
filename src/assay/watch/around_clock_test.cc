#include "assay/watch/around_clock.h"

#include <gmock/gmock.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kStock = 0, kPacked = 1, kUsers = 2;
constexpr int kLaunches = 8;

// In us: a burst, and wall time behind its clock.
struct Times {
  int64_t burst = 75, behind = 14;
};

void add(AroundClock& clock, size_t kernel, const Times& times, int launches = kLaunches) {
  constexpr int64_t kUs = 1000;
  BurstMoments moments;
  BurstMoments::Stretch& stretch = moments.stretches.emplace_back();
  int64_t now = 1000 * kUs;
  stretch.ready.answered_ns = now;
  stretch.started.pulse = {'s', now, true, {}};
  stretch.stopped.pulse = {'e', now += times.burst * kUs, true, {}};
  stretch.looked_ns = now + times.behind * kUs;
  clock.add(kernel, kernel == kUsers, launches, moments, times.burst * kUs);
}

AroundClock beside_others(int bursts = 24) {
  AroundClock clock;
  for (int i = 0; i < bursts; ++i) {
    add(clock, kStock, {});
    add(clock, kPacked, {.behind = 13});
  }
  return clock;
}

std::string sentence_of(AroundClock& clock, size_t kernel) {
  const auto excess = clock.excess(kernel);
  return excess.value_or("");
}

std::string excess_of(const Times& times, AroundClock clock = beside_others()) {
  for (int i = 0; i < 24; ++i) add(clock, kUsers, times);
  EXPECT_FALSE(clock.excess(kStock));
  return sentence_of(clock, kUsers);
}

TEST(AroundClock, AsLongAsOthersOrALittleLongerIsHonest) {
  EXPECT_THAT(excess_of({}), IsEmpty());
  EXPECT_THAT(excess_of({.behind = 19}), IsEmpty());
}

// Whoever hears of a burst may be on its core in one process, and elsewhere in another.
TEST(AroundClock, TwoWaysOfHearingAreNoWork) {
  AroundClock clock;
  for (int i = 0; i < 24; ++i) add(clock, kStock, {.burst = 30, .behind = 5});
  EXPECT_THAT(excess_of({.burst = 30, .behind = 26}, clock), IsEmpty());
}

// A core that a neighbour slows for some rounds takes half as long again for the same.
TEST(AroundClock, ACoreOfTwoSpeedsConvictsNobody) {
  AroundClock clock;
  for (int i = 0; i < 24; ++i) {
    add(clock, kStock, {.behind = i % 3 == 0 ? 100 : 65});
    add(clock, kUsers, {.behind = i % 3 == 0 ? 65 : 100});
  }
  EXPECT_FALSE(clock.excess(kUsers));
  for (int i = 0; i < 48; ++i) add(clock, kUsers, {.behind = 260});
  EXPECT_TRUE(clock.excess(kUsers));
}

TEST(AroundClock, AFewDisturbedBurstsConvictNobody) {
  AroundClock clock = beside_others();
  for (int i = 0; i < 24; ++i) {
    const bool disturbed = i % 3 == 0;
    add(clock, kUsers, {.behind = disturbed ? 5000 : 16});
    EXPECT_FALSE(clock.excess(kUsers));
  }
}

TEST(AroundClock, WorkThatWasLeftForLaterShows) {
  EXPECT_THAT(excess_of({.burst = 12, .behind = 92}),
              HasSubstr("until its outputs were looked at it took 92.0 us"));
}

TEST(AroundClock, ALittleMoreConvictsNobody) {
  EXPECT_THAT(excess_of({.burst = 12, .behind = 78}), IsEmpty());
}

// Outputs are looked at for each launch.
TEST(AroundClock, BurstsOfAsManyLaunchesAreCompared) {
  AroundClock clock;
  for (int i = 0; i < 24; ++i) add(clock, kStock, {.behind = 40});
  for (int i = 0; i < 24; ++i) add(clock, kUsers, {.behind = 150}, 2 * kLaunches);
  EXPECT_FALSE(clock.excess(kUsers));
  for (int i = 0; i < 24; ++i) add(clock, kStock, {.behind = 42}, 2 * kLaunches);
  EXPECT_THAT(sentence_of(clock, kUsers), HasSubstr("took 150.0 us"));
}

// A stamp is not known if somebody set the machine's clock.
TEST(AroundClock, WhatIsNotKnownCountsAsNothing) {
  AroundClock clock = beside_others();
  BurstMoments moments;
  moments.stretches.emplace_back();
  for (int i = 0; i < 24; ++i) clock.add(kUsers, true, kLaunches, moments, 1000);
  EXPECT_FALSE(clock.excess(kUsers));
}

TEST(AroundClock, NothingIsSaidBeforeEnoughWasSeen) {
  EXPECT_THAT(excess_of({.behind = 200}, beside_others(3)), IsEmpty());
  EXPECT_THAT(excess_of({.behind = 200}, {}), IsEmpty());
}

}  // namespace
}  // namespace assay::sweep
