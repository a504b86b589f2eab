#pragma once

// The timer of a CPU (a GPU's bursts are timed in worker/gpu/bursts.cc). A burst is a number of
// launches between readings of the clock; everything that is not a launch (waiting for rest, making
// inputs, reading the scheduler) happens outside.

#include <cstddef>
#include <cstdint>
#include <span>

#include "assay/base/pulses.h"
#include "assay/base/result.h"
#include "assay/kernel/plan.h"
#include "assay/measure/perf_counters.h"
#include "assay/measure/scheduler_watch.h"

namespace assay::measure {

// What a burst launches: one stretch of launches, or several, each between two readings of the
// clock, of which a burst is the sum.
class Launches {
 public:
  virtual ~Launches() = default;

  // A launch ahead of all stretches that nobody times: false if there is none.
  virtual Result<bool> lead_in() { return false; }
  // Puts caches into the state in which the next stretch finds them, as far as that can be done
  // before there are inputs. False when there is no further stretch.
  virtual Result<bool> make_cold() = 0;
  // Makes the inputs of that stretch from this number, which nobody in this process knew before,
  // when everybody else is at rest; the clock starts when it returns, and nothing that could be
  // waited for comes between.
  virtual Status make_ready(uint64_t key) = 0;
  // The plan of the stretch's next launch, chosen when the one before has returned; null behind its
  // last. Called while the clock runs.
  virtual Plan* draw() = 0;
  // What whoever has the other clock is told with the start of this stretch, before anything of it
  // runs: which launches it will have.
  virtual std::span<const std::byte> told_at_start() { return {}; }
  // The clock has stopped; signals are still held. What he is told of what lies in the outputs.
  virtual std::span<const std::byte> told_at_stop() { return {}; }
};

struct Burst {
  int64_t ns = 0;  // Whole burst.
  int launches = 0;
  bool clean = false;     // No thread waited for a core, no steal, other threads at rest before.
  int64_t waited_ns = 0;  // Longest wait of one thread for a core that another process had.
  bool let_signals_in = false;  // Which are held off until the outputs were looked at.
  // Processor time of all threads while the clock ran, beyond what its own readings, just ahead of
  // the clock and just behind it, may have cost on all cores.
  int64_t taken_ns = 0;
  // What other threads took than the one that launches: up to the moment when they were at rest, up
  // to the burst's end, and in between while inputs were made and the clock stood still.
  int64_t others_at_rest_ns = 0, others_at_end_ns = 0, others_ahead_ns = 0;
};

// The moments of a burst that somebody outside is told of, so that he has a clock of his own: when
// threads are at rest and the inputs of a stretch are about to be made, around the clock, and when
// the outputs have been looked at, if they are. The first and the last are questions: with the
// answer to the first comes the number that inputs are made from, and while it waits for one to the
// last the thread that launches stands still, so that its processor time can be read.
enum class BurstPulse : uint8_t { ready = 'r', started = 's', stopped = 'e', looked = 'l' };

struct BurstLimits {
  double waited_share = 0.02;            // Of the burst's wall time; docs/method.md.
  int64_t quiet_limit_ns = 300'000'000;  // OpenBLAS's pthreads build spins about 100 ms (measured).
  int threads = 1;                       // Cores that the launches have.
  int64_t own_wait_ns = 0;               // What such a burst waits by its own doing (own_waits.h).
};

// Waits for rest first. A plan's failure ends the burst with its error.
Result<Burst> time_burst(Launches& launches, Stream& stream, SchedulerWatch& watch,
                         const BurstLimits& limits = {}, const PulseSender& pulses = PulseSender());

// The same launches with the processor's counters running, and no clock; how many there were.
Result<int> count_burst(Launches& launches, Stream& stream, PerfCounters& counters);

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
