#include "assay/measure/perf_counters.h"

#include <cerrno>
#include <sys/mman.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::measure {
namespace {

using ::testing::HasSubstr;

const EventCount& event(const std::vector<EventCount>& counts, const std::string& name) {
  for (const EventCount& count : counts)
    if (count.event == name) return count;
  ADD_FAILURE() << "no event " << name;
  return counts.front();
}

TEST(PerfCountersTest, EveryEventHasACountOrAReason) {
  PerfCounters counters = PerfCounters::open();
  counters.start();
  volatile double sum = 0;
  for (int i = 0; i < 1'000'000; ++i) sum = sum + i;
  counters.stop();
  const auto counts = counters.counts();
  for (const char* name :
       {"cycles", "instructions", "l1d_misses", "llc_misses", "dtlb_misses", "page_faults"})
    event(counts, name);
  const EventCount& instructions = event(counts, "instructions");
  if (instructions.unavailable.empty()) {
    EXPECT_GT(instructions.count, 1e6);
    EXPECT_LT(instructions.count, 1e9);
  } else {
    EXPECT_EQ(instructions.count, 0);
  }
}

TEST(PerfCountersTest, OnlyWhatLiesBetweenStartAndStopCounts) {
  constexpr size_t kPages = 64, kBytes = kPages * 4096;
  const auto touch = [] {
    auto* memory = static_cast<volatile char*>(
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (size_t at = 0; at < kBytes; at += 4096) memory[at] = 1;
    ::munmap(const_cast<char*>(memory), kBytes);
  };
  PerfCounters counters = PerfCounters::open();
  touch();
  counters.start();
  counters.stop();
  const double nothing = event(counters.counts(), "page_faults").count;
  counters.start();
  touch();
  counters.stop();
  touch();
  const double one = event(counters.counts(), "page_faults").count;
  EXPECT_LT(nothing, 16);
  EXPECT_GE(one, kPages);
  EXPECT_LT(one, 2 * kPages);
}

TEST(PerfCountersTest, ARefusalSaysWhatToDo) {
  EXPECT_THAT(why_no_counter(EACCES, {"3", true, false}), HasSubstr("perf_event_paranoid is 3"));
  EXPECT_THAT(why_no_counter(EPERM, {"2", true, false}), HasSubstr("container"));
  EXPECT_THAT(why_no_counter(ENOENT, {"2", false, true}), HasSubstr("virtual machine"));
  EXPECT_THAT(why_no_counter(ENOENT, {"2", false, false}), HasSubstr("shows no performance"));
  EXPECT_THAT(why_no_counter(EOPNOTSUPP, {"2", true, true}), HasSubstr("does not count it"));
  EXPECT_THAT(why_no_counter(ENOSYS, {}), HasSubstr("no perf_event_open"));
}

TEST(PerfCountersTest, TheClockIsOneThatProcessorsHave) {
#if defined(__x86_64__)
  EXPECT_GT(measure_clock_hz(), 2e8);
  EXPECT_LT(measure_clock_hz(), 1e10);
#endif
}

}  // namespace
}  // namespace assay::measure
