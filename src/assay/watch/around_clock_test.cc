#include "assay/watch/around_clock.h"

#include <gmock/gmock.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kStock = 0, kPacked = 1, kUsers = 2;
constexpr int kLaunches = 8;

// In us: a burst, wall time behind its clock, and what its thread worked beside it.
struct Times {
  int64_t burst = 75, behind = 14, work = 30;
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
  stretch.thread_ns = (times.burst + times.work) * kUs;
  clock.add(kernel, kernel == kUsers, launches, moments, times.burst * kUs);
}

AroundClock beside_others(int bursts = 24) {
  AroundClock clock;
  for (int i = 0; i < bursts; ++i) {
    add(clock, kStock, {});
    add(clock, kPacked, {.behind = 13, .work = 28});
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
  EXPECT_THAT(excess_of({.behind = 19, .work = 38}), IsEmpty());
}

// Whoever hears of a burst may be on its core in one process, and elsewhere in another.
TEST(AroundClock, TwoWaysOfHearingAreNoWork) {
  AroundClock clock;
  for (int i = 0; i < 24; ++i) add(clock, kStock, {.burst = 30, .behind = 5});
  EXPECT_THAT(excess_of({.burst = 30, .behind = 26}, clock), IsEmpty());
}

// A core that a neighbour slows for some rounds takes half as long again for the same work.
TEST(AroundClock, ACoreOfTwoSpeedsConvictsNobody) {
  AroundClock clock;
  for (int i = 0; i < 24; ++i) {
    add(clock, kStock, {.work = i % 3 == 0 ? 100 : 65});
    add(clock, kUsers, {.work = i % 3 == 0 ? 65 : 100});
  }
  EXPECT_FALSE(clock.excess(kUsers));
  for (int i = 0; i < 48; ++i) add(clock, kUsers, {.work = 190});
  EXPECT_TRUE(clock.excess(kUsers));
}

TEST(AroundClock, AFewDisturbedBurstsConvictNobody) {
  AroundClock clock = beside_others();
  for (int i = 0; i < 24; ++i) {
    const bool disturbed = i % 3 == 0;
    add(clock, kUsers, {.behind = disturbed ? 5000 : 16, .work = disturbed ? 5000 : 30});
    EXPECT_FALSE(clock.excess(kUsers));
  }
}

TEST(AroundClock, WorkThatWasDoneAheadOrLeftForLaterShows) {
  EXPECT_THAT(excess_of({.burst = 12, .behind = 72}),
              HasSubstr("until its outputs were looked at it took 72.0 us"));
  EXPECT_THAT(excess_of({.burst = 12, .work = 85}),
              HasSubstr("worked for 85.0 us, where it took kernels of others 30.0"));
}

// A process that runs seldom takes longer for the same: up to 30 us (measured).
TEST(AroundClock, ALittleMoreConvictsNobody) {
  AroundClock clock = beside_others();
  for (int i = 0; i < 48; ++i) {
    add(clock, kUsers, {.work = 65});
    EXPECT_FALSE(clock.excess(kUsers));
  }
  for (int i = 0; i < 96; ++i) add(clock, kUsers, {.work = 90});
  EXPECT_TRUE(clock.excess(kUsers));
}

// Inputs are made, and outputs looked at, for each launch.
TEST(AroundClock, BurstsOfAsManyLaunchesAreCompared) {
  AroundClock clock = beside_others();
  for (int i = 0; i < 24; ++i) add(clock, kUsers, {.work = 100}, 2 * kLaunches);
  EXPECT_FALSE(clock.excess(kUsers));
  for (int i = 0; i < 24; ++i) add(clock, kStock, {.work = 40}, 2 * kLaunches);
  EXPECT_THAT(sentence_of(clock, kUsers), HasSubstr("worked for 100.0 us"));
}

// A stamp is not known if somebody set the machine's clock, a thread's time if nobody may look.
TEST(AroundClock, WhatIsNotKnownCountsAsNothing) {
  AroundClock clock = beside_others();
  BurstMoments moments;
  moments.stretches.emplace_back();
  for (int i = 0; i < 24; ++i) clock.add(kUsers, true, kLaunches, moments, 1000);
  EXPECT_FALSE(clock.excess(kUsers));
}

TEST(AroundClock, NothingIsSaidBeforeEnoughWasSeen) {
  EXPECT_THAT(excess_of({.work = 100}, beside_others(3)), IsEmpty());
  EXPECT_THAT(excess_of({.work = 100}, {}), IsEmpty());
}

}  // namespace
}  // namespace assay::sweep
