#pragma once

// What the processor counted while launches ran: for reading what limits a kernel, never for a
// claim. Counting stands beside timing: no timed burst has a counter open.

#include <cstdint>
#include <string>
#include <vector>

namespace assay::measure {

// One event, over all threads of this process, in user code alone.
struct EventCount {
  std::string event;        // "cycles", "instructions", "llc_misses" ...
  double count = 0;         // Of what was counted together; scaled where counters took turns.
  std::string unavailable;  // Why there is no count: a sentence; empty where there is one.
};

class PerfCounters {
 public:
  // Opens a counter of each event for each thread that this process has now. What the machine
  // refuses is in counts(), with the reason.
  static PerfCounters open();
  ~PerfCounters();
  PerfCounters(PerfCounters&&) noexcept;
  PerfCounters& operator=(PerfCounters&&) = delete;

  void start();
  void stop();  // What follows until the next start() is not counted.
  std::vector<EventCount> counts() const;

 private:
  struct Event;
  PerfCounters();
  std::vector<Event> events_;
  std::int64_t faults_ = 0, faults_before_ = 0;
};

// Cycles a second of the calling thread's core, now: of a chain of dependent multiplications, 3
// cycles each on every x86-64 core since 2008. 0 on other machines.
double measure_clock_hz();

// A sentence on why perf_event_open() gave `error`, on this machine. `paranoid` is what
// /proc/sys/kernel/perf_event_paranoid says, `has_pmu` whether the processor shows counters,
// `is_virtual` whether it is one that a hypervisor shows.
struct PerfSurroundings {
  std::string paranoid;
  bool has_pmu = false, is_virtual = false;
};
PerfSurroundings read_perf_surroundings();
std::string why_no_counter(int error, const PerfSurroundings& around);

}  // namespace assay::measure
