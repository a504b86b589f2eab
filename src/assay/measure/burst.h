#pragma once

// The timer. A burst is a number of launches between two readings of the clock; everything that is
// not a launch (waiting for rest, varying inputs, reading the scheduler) happens outside.

#include <cstdint>
#include <span>

#include "assay/base/result.h"
#include "assay/kernel/plan.h"
#include "assay/measure/scheduler_watch.h"
#include "assay/measure/stop_copy.h"

namespace assay::measure {

struct Burst {
  int64_t ns = 0;  // Whole burst.
  int launches = 0;
  bool clean = false;     // No thread waited for a core, no steal, other threads at rest before.
  int64_t waited_ns = 0;  // Longest wait of one thread.
  bool let_signals_in = false;  // Which are held off until the outputs were looked at.
};

struct BurstLimits {
  double waited_share = 0.02;            // Of the burst's wall time; docs/method.md.
  int64_t quiet_limit_ns = 300'000'000;  // OpenBLAS's pthreads build spins about 100 ms (measured).
};

// Launches plans[0..] in order, and takes the copy when the clock has stopped, before anything that
// would give late work its time. A plan's failure ends the burst with its error.
Result<Burst> time_burst(std::span<Plan* const> plans, Stream& stream, SchedulerWatch& watch,
                         StopCopy& copy, const BurstLimits& limits = {});

// The clock itself, measured now: its smallest step and the cost of one reading.
struct TimerFacts {
  double tick_ns = 0;
  double read_ns = 0;
  double empty_burst_ns = 0;  // A burst of one plan that does nothing: the launch floor.
};
TimerFacts measure_timer();

// Launches per burst so that it lasts at least 20 us and a thousand readings of the clock; with
// several threads a millisecond, in which waking those that sleep between bursts is lost.
int launches_per_burst(double launch_ns, const TimerFacts& timer, int threads, int at_most);

}  // namespace assay::measure
