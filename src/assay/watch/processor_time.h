#pragma once

// Whether a kernel worked on cores, or in moments, that were not given to it: the processor time of
// its whole process, read from outside, against what its threads can have taken on their cores.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/process/child.h"

namespace assay::sweep {

// The moments of one burst, as they must be told (measure/burst.h): of each stretch that threads
// are at rest, that the clock started, and that it stopped.
struct BurstMoments {
  struct Stretch {
    Moment ready, started, stopped;
    std::vector<std::byte> looked;  // What was told of the outputs behind it; empty: nothing.
    int64_t looked_ns = 0;          // When that was sent; 0: unknown.
    int64_t thread_ns = -1;  // Processor time of the thread that launches, between both questions.
  };
  std::vector<Stretch> stretches;

  // None where something else was told, or more.
  static std::optional<BurstMoments> of(std::span<const Moment> told);
  // What the clock between starts and stops should say, by the kernel's stamps; 0: unknown.
  int64_t outside_ns() const;
  // From a stop until outputs had been looked at, of one stretch in the mean; 0: unknown.
  int64_t behind_ns() const;
  // Processor time of the thread that launches from that answer until outputs had been looked at,
  // of the whole burst; -1: unknown.
  int64_t thread_ns() const;
  // The processor time of the process between them, by readings from outside. Both 0: unknown.
  struct Ran {
    int64_t least_ns = 0, most_ns = 0;
  };
  Ran ran(int threads) const;
  // Whether they lie further apart than the burst's own clock says, and the process was not seen to
  // run for as long: somebody else had the core on the way from one clock to the other, or we heard
  // too late to tell. A kernel that moves its clock runs meanwhile.
  bool lost_core(int threads, int64_t burst_ns) const;
};

// Over the bursts of one kernel in one process.
class ProcessorTime {
 public:
  // What the worker says: of the burst by its clock, of what all threads took meanwhile, and of
  // what other threads took than the one that launches, between ready and started.
  struct Told {
    int64_t burst_ns = 0, taken_ns = 0, others_ahead_ns = 0;
  };
  // answered: when the burst's answer was there. threads: the most that a launch may use.
  void add(const BurstMoments& moments, const ClockReading& answered, int threads,
           const Told& told);
  // What they took behind it, until another burst was ready.
  void add_behind(int64_t others_ns);

  // A sentence, if some burst or all together took more than was given.
  const std::string& excess() const { return excess_; }
  // Whether the last burst seemed to. Alone it may be the clock's fault, and it is no clean one.
  bool doubted() const { return doubted_; }

 private:
  struct Sum {
    double taken_ns = 0, given_ns = 0;
    int exceeded = 0;        // Single bursts.
    double forgiven_ns = 0;  // By which the worst of all is above what was given.
  };
  void look(Sum& sum, double taken_ns, double given_ns, double unsure_ns, const char* when);

  Sum burst_, seen_, around_;
  void look_at_others(double taken_ns, double given_ns, const char* when);
  double ahead_ns_ = 0, behind_ns_ = 0, bursts_ns_ = 0;
  int threads_ = 1;
  int bursts_ = 0;
  bool doubted_ = false;
  std::string excess_;
};

}  // namespace assay::sweep
