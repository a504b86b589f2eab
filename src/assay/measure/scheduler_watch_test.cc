#include "assay/measure/scheduler_watch.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "assay/base/clock.h"

namespace assay::measure {
namespace {

TEST(SchedulerWatch, ASpinningThreadIsNotRest) {
  std::atomic<bool> stop{false}, running{false};
  std::thread spinner([&] {
    running = true;
    while (!stop) {
    }
  });
  while (!running) std::this_thread::yield();
  SchedulerWatch watch;
  EXPECT_EQ(watch.threads(), 2);
  EXPECT_FALSE(watch.wait_until_quiet(2'000'000));
  stop = true;
  spinner.join();
  EXPECT_TRUE(watch.wait_until_quiet(60 * kNsPerSecond));
  EXPECT_EQ(watch.threads(), 1);
}

TEST(SchedulerWatch, ASleepingThreadIsRest) {
  std::mutex mutex;
  mutex.lock();
  std::thread sleeper([&] { const std::lock_guard wait(mutex); });
  SchedulerWatch watch;
  EXPECT_TRUE(watch.wait_until_quiet(60 * kNsPerSecond)) << "it comes to rest at the lock";
  mutex.unlock();
  sleeper.join();
}

TEST(SchedulerWatch, WaitingIsTheLongestOfAnyThread) {
  SchedulerWatch::Reading before, after;
  before.readable = after.readable = true;
  before.run_delay_ns = {{1, 100}, {2, 500}};
  after.run_delay_ns = {{1, 150}, {2, 900}, {3, 70}};
  before.steal_ticks = 5;
  after.steal_ticks = 7;
  const auto waited = SchedulerWatch::between(before, after);
  EXPECT_EQ(waited.longest_ns, 400);
  EXPECT_EQ(waited.steal_ticks, 2);
  EXPECT_TRUE(waited.readable);
}

}  // namespace
}  // namespace assay::measure
