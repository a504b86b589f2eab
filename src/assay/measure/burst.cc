#include "assay/measure/burst.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "assay/base/clock.h"
#include "assay/measure/held_signals.h"
#include "assay/measure/output_digest.h"

namespace assay::measure {

namespace {

// One stretch: the launches that there were.
Result<int> launch_all(Launches& launches, Stream& stream) {
  int count = 0;
  while (Plan* plan = launches.draw()) {
    ASSAY_TRY(plan->launch(stream));
    ++count;
  }
  ASSAY_TRY(stream.synchronize());
  return count;
}

// Processor time so far: of all threads of this process, those that ended included, and of those
// other than the calling one.
struct Taken {
  int64_t all_ns = 0, others_ns = 0;
};

Taken read_processor_time() {
  timespec all{}, own{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all);
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  const int64_t all_ns = all.tv_sec * kNsPerSecond + all.tv_nsec;
  return {all_ns, all_ns - own.tv_sec * kNsPerSecond - own.tv_nsec};
}

void tell(const PulseSender& pulses, BurstPulse moment, std::span<const std::byte> what = {}) {
  pulses.send(static_cast<uint8_t>(moment), what);
}

Result<uint64_t> ask_for_key(const PulseSender& pulses) {
  return pulses.ask(static_cast<uint8_t>(BurstPulse::ready), PulseSender::Wait::awake);
}

// Whoever is told reads this thread's processor time while it sleeps.
Status tell_what_was_seen(const PulseSender& pulses, std::span<const std::byte> seen) {
  const auto answer =
      pulses.ask(static_cast<uint8_t>(BurstPulse::looked), PulseSender::Wait::asleep, seen);
  return answer ? Status() : fail(answer.error());
}

// So long its cores did something else, or nothing: a thread that waited longer waited for others
// of its own process, and that is its own time. most_taken_ns: with all that the clock's own
// readings may have cost, which of a burst of 20 us is more than the share that may be waited.
int64_t without_cores_ns(const Burst& burst, int64_t most_taken_ns, int threads) {
  return std::max<int64_t>(0, burst.ns * threads - most_taken_ns);
}

}  // namespace

Result<Burst> time_burst(Launches& launches, Stream& stream, SchedulerWatch& watch,
                         const BurstLimits& limits, const PulseSender& pulses) {
  Burst burst;
  bool quiet = watch.wait_until_quiet(limits.quiet_limit_ns);
  burst.others_at_rest_ns = read_processor_time().others_ns;
  auto before = watch.read();
  Result<int> count = 0;
  int64_t most_taken_ns = 0;
  {
    HeldSignals signals;
    ASSAY_TRY(const bool led, launches.lead_in());
    // Pools that it woke stay awake, as they would be; threads of nobody's must rest again.
    if (led && limits.threads == 1) quiet = watch.wait_until_quiet(limits.quiet_limit_ns) && quiet;
    if (led) before = watch.read();
    for (;;) {
      ASSAY_TRY(const bool another, launches.make_cold());
      if (!another) break;
      // Reading it brings the process's clock up to date, which others then find so: of a thread
      // that runs on another core, it is up to a tick old.
      read_processor_time();
      ASSAY_TRY(const uint64_t key, ask_for_key(pulses));
      const Taken at_rest = read_processor_time();
      ASSAY_TRY(launches.make_ready(key));
      // What flushing left to do is done when the system is entered: up to 120 us (measured).
      read_processor_time();
      tell(pulses, BurstPulse::started, launches.told_at_start());
      const int64_t reading = monotonic_ns();
      const Taken at_start = read_processor_time();
      const int64_t start = monotonic_ns();
      count = launch_all(launches, stream);
      const int64_t end = monotonic_ns();
      const Taken at_end = read_processor_time();
      const int64_t read = monotonic_ns();
      burst.ns += end - start;
      tell(pulses, BurstPulse::stopped);
      if (!count) break;
      most_taken_ns += at_end.all_ns - at_start.all_ns;
      burst.taken_ns += std::max<int64_t>(
          0, at_end.all_ns - at_start.all_ns - limits.threads * (start - reading + read - end));
      burst.others_ahead_ns += at_start.others_ns - at_rest.others_ns;
      burst.others_at_end_ns = at_end.others_ns;
      burst.launches += *count;
      burst.let_signals_in |= !signals.hold_on();
      if (const auto seen = launches.told_at_stop(); !seen.empty())
        ASSAY_TRY(tell_what_was_seen(pulses, seen));
    }
  }
  const auto waited = SchedulerWatch::between(before, watch.read());
  if (!count) return fail(count.error());
  burst.waited_ns =
      std::min(waited.longest_ns, without_cores_ns(burst, most_taken_ns, limits.threads));
  burst.clean = quiet && waited.steal_ticks == 0 &&
                static_cast<double>(burst.waited_ns - limits.own_wait_ns) <=
                    limits.waited_share * static_cast<double>(burst.ns);
  return burst;
}

Result<int> count_burst(Launches& launches, Stream& stream, PerfCounters& counters) {
  int launched = 0;
  ASSAY_TRY(launches.lead_in().map([](bool) {}));
  for (;;) {
    ASSAY_TRY(const bool another, launches.make_cold());
    if (!another) return launched;
    ASSAY_TRY(launches.make_ready(draw_unknown()));
    counters.start();
    const auto count = launch_all(launches, stream);
    counters.stop();
    if (!count) return fail(count.error());
    launched += *count;
  }
}

TimerFacts measure_timer() {
  constexpr int kReadings = 20'000;
  TimerFacts facts;
  double tick = std::numeric_limits<double>::infinity();
  const int64_t start = monotonic_ns();
  int64_t previous = start;
  for (int i = 0; i < kReadings; ++i) {
    const int64_t now = monotonic_ns();
    if (now > previous) tick = std::min(tick, static_cast<double>(now - previous));
    previous = now;
  }
  facts.read_ns = static_cast<double>(previous - start) / kReadings;
  facts.tick_ns = std::isfinite(tick) ? tick : 1.0;

  // The least that any burst reads: two readings and one launch of nothing.
  double floor = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 1000; ++i) {
    const int64_t begin = monotonic_ns();
    const int64_t end = monotonic_ns();
    floor = std::min(floor, static_cast<double>(end - begin));
  }
  facts.empty_burst_ns = floor;
  return facts;
}

int launches_per_burst(double launch_ns, const TimerFacts& timer, int threads, int at_most) {
  const double least_ns = std::max(threads > 1 ? 1e6 : 20e3, 1000.0 * timer.read_ns);
  const double wanted = launch_ns > 0 ? std::ceil(least_ns / launch_ns) : at_most;
  return static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(std::max(at_most, 1))));
}

}  // namespace assay::measure
