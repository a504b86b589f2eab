#include "assay/watch/processor_time.h"

#include <gmock/gmock.h>

#include "assay/measure/burst.h"

namespace assay::sweep {
namespace {

using measure::BurstPulse;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kUs = 1000;

Moment moment(BurstPulse what, int64_t sent_us, int64_t heard_us, int64_t cpu_us) {
  Moment made = {{static_cast<uint8_t>(what), sent_us * kUs, true},
                 {heard_us * kUs, heard_us * kUs, cpu_us * kUs}};
  if (what == BurstPulse::ready) made.answered_ns = heard_us * kUs;
  return made;
}

ClockReading reading(int64_t at_us, int64_t cpu_us) {
  return {at_us * kUs, at_us * kUs, cpu_us * kUs};
}

// A burst of a millisecond, of which we hear 20 us late; `cpu`: of its process in the burst, and
// when the answer is there. Before it starts it takes 100 us.
void add(ProcessorTime& time, int threads, int64_t cpu_us, int64_t end_us, int64_t ahead_us = 0) {
  const BurstMoments moments = {
      {{moment(BurstPulse::ready, 50, 70, 60), moment(BurstPulse::started, 150, 170, 160),
        moment(BurstPulse::stopped, 1150, 1170, 160 + cpu_us)}}};
  time.add(moments, reading(1250, end_us), threads, {1000 * kUs, cpu_us * kUs, ahead_us * kUs});
}

TEST(ProcessorTime, WhatThreadsCanTakeOnTheirCoresIsTheirs) {
  for (const int threads : {1, 2, 8}) {
    ProcessorTime time;
    for (int burst = 0; burst < 100; ++burst)
      add(time, threads, threads * 1000, 160 + threads * 1000 + 70);
    EXPECT_THAT(time.excess(), IsEmpty()) << threads;
  }
}

TEST(ProcessorTime, ASecondCoreShowsInOneBurst) {
  ProcessorTime time;
  add(time, 1, 1500, 1750);
  EXPECT_THAT(time.excess(), HasSubstr("1500.0 us of processor time in a burst"));
}

TEST(ProcessorTime, ALittleTooMuchInTwoBurstsIsTheClocks) {
  ProcessorTime time;
  for (int twice = 0; twice < 2; ++twice) {
    add(time, 1, 1050, 1300);
    EXPECT_TRUE(time.doubted());
    for (int burst = 0; burst < 20; ++burst) add(time, 1, 1000, 1250);
  }
  EXPECT_THAT(time.excess(), IsEmpty());
  add(time, 1, 1050, 1300);
  EXPECT_THAT(time.excess(), HasSubstr("processor time"));
}

// However many bursts there are; none of those that seemed long counts.
TEST(ProcessorTime, ALittleTooMuchInOneOfAHundredIsTheClocks) {
  ProcessorTime seldom, often;
  for (int burst = 0; burst < 1000; ++burst) {
    add(seldom, 1, burst % 100 == 0 ? 1050 : 999, 1250);
    add(often, 1, burst % 30 == 0 ? 1050 : 999, 1250);
  }
  EXPECT_THAT(seldom.excess(), IsEmpty());
  EXPECT_THAT(often.excess(), HasSubstr("processor time"));
}

// Neither convicted nor counted; a second one that is so long is no chance.
TEST(ProcessorTime, OneBurstThatSeemsLongIsNoCleanOne) {
  ProcessorTime time;
  add(time, 1, 1270, 1520);
  EXPECT_TRUE(time.doubted());
  for (int burst = 0; burst < 20; ++burst) {
    add(time, 1, 1000, 1250);
    EXPECT_FALSE(time.doubted());
  }
  EXPECT_THAT(time.excess(), IsEmpty());
  add(time, 1, 1270, 1520);
  EXPECT_THAT(time.excess(), HasSubstr("processor time"));
}

TEST(ProcessorTime, WhatAWorkerHidesShowsOutside) {
  ProcessorTime time;
  const BurstMoments moments = {
      {{moment(BurstPulse::ready, 50, 70, 60), moment(BurstPulse::started, 150, 170, 160),
        moment(BurstPulse::stopped, 1150, 1170, 160 + 1500)}}};
  time.add(moments, reading(1250, 1750), 1, {1000 * kUs, 1000 * kUs, 0});
  EXPECT_THAT(time.excess(), HasSubstr("seen from outside"));
}

TEST(ProcessorTime, ALittleOfOneShowsInMany) {
  ProcessorTime time;
  int bursts = 0;
  while (time.excess().empty() && bursts < 200) {
    add(time, 1, 1012, 1240);
    ++bursts;
  }
  EXPECT_GT(bursts, 1);
  EXPECT_LT(bursts, 200) << "12 us of each millisecond";
}

TEST(ProcessorTime, WorkAheadOfTheClockIsNone) {
  ProcessorTime time;
  for (int burst = 0; burst < 100; ++burst) add(time, 2, 1000, 1200, 40);
  EXPECT_THAT(time.excess(), HasSubstr("while inputs were known"));
}

TEST(ProcessorTime, PoolsComeToRestBehindTheLastLaunch) {
  ProcessorTime pool, goes_on;
  for (int burst = 0; burst < 10; ++burst) {
    add(pool, 2, 1900, 2200);
    pool.add_behind(2 * 500 * kUs);
    add(goes_on, 2, 1900, 2200);
    goes_on.add_behind(20'000 * kUs);
  }
  EXPECT_THAT(pool.excess(), IsEmpty());
  EXPECT_THAT(goes_on.excess(), HasSubstr("behind their last launches"));
}

// We hear of a start and of a stop late: what ran until then is not known to be of the burst.
TEST(BurstMoments, ProcessorTimeLiesBetweenWhatWeHeard) {
  const BurstMoments moments = {
      {{moment(BurstPulse::ready, 90, 90, 40), moment(BurstPulse::started, 100, 110, 50),
        moment(BurstPulse::stopped, 2100, 2120, 950)}}};
  EXPECT_EQ(moments.ran(1).least_ns, 880 * kUs);
  EXPECT_EQ(moments.ran(1).most_ns, 910 * kUs);
  EXPECT_EQ(moments.ran(2).least_ns, 860 * kUs);
  BurstMoments unknown = moments;
  unknown.stretches[0].stopped.heard.cpu_ns = -1;
  EXPECT_EQ(unknown.ran(1).most_ns, 0);
}

// 2,000 us between start and stop.
TEST(BurstMoments, ACoreIsLostWhereNobodyIsSeenToRunBetweenTheClocks) {
  const auto moments = [](int64_t ran_us, int64_t heard_us = 2120) {
    return BurstMoments{
        {{moment(BurstPulse::ready, 90, 90, 40), moment(BurstPulse::started, 100, 110, 50),
          moment(BurstPulse::stopped, 2100, heard_us, 50 + ran_us)}}};
  };
  EXPECT_TRUE(moments(900).lost_core(1, 890 * kUs));
  // Its own clock says as much: whoever slept within a launch had its core.
  EXPECT_FALSE(moments(900).lost_core(1, 1990 * kUs));
  // It ran on, and its clock does not say so.
  EXPECT_FALSE(moments(1990).lost_core(1, 890 * kUs));
  // A second thread may have run instead.
  EXPECT_FALSE(moments(1990).lost_core(2, 890 * kUs));
  // What it ran for until we heard of the stop may all have been behind it.
  EXPECT_TRUE(moments(1990, 3900).lost_core(1, 890 * kUs));
  BurstMoments unknown = moments(900);
  unknown.stretches[0].stopped.heard.cpu_ns = -1;
  EXPECT_FALSE(unknown.lost_core(1, 890 * kUs));
}

TEST(BurstMoments, AreThreeOfEachStretchInTheirOrder) {
  const Moment ready = moment(BurstPulse::ready, 1, 1, 0);
  const Moment started = moment(BurstPulse::started, 2, 2, 0);
  const Moment stopped = moment(BurstPulse::stopped, 5, 5, 0);
  const auto of = [](std::vector<Moment> told) { return BurstMoments::of(told); };
  ASSERT_TRUE(of({ready, started, stopped}));
  EXPECT_EQ(of({ready, started, stopped})->outside_ns(), 3 * kUs);
  EXPECT_EQ(of({ready, started, stopped, ready, started, stopped})->outside_ns(), 6 * kUs);
  EXPECT_FALSE(of({ready, started, stopped, ready}));
  Moment told = ready;
  told.answered_ns = 0;
  EXPECT_FALSE(of({told, started, stopped})) << "inputs of which nobody here knows";
  EXPECT_FALSE(of({}));
  EXPECT_FALSE(of({ready}));
  EXPECT_FALSE(of({ready, started, stopped, stopped}));
  EXPECT_FALSE(of({ready, started, started, stopped}));
  EXPECT_FALSE(of({started, ready, stopped}));
  EXPECT_FALSE(of({ready, started}));
}

}  // namespace
}  // namespace assay::sweep
