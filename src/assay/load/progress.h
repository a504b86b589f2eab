#pragma once

// What a person sees of a run while it goes on.

#include <cstdint>
#include <vector>

#include "assay/load/plan.h"
#include "assay/load/trace.h"

namespace assay::load {

struct Progress {
  double seconds = 0;  // Since the run began.
  bool warming_up = false;
  std::int64_t sent = 0, ended = 0, errored = 0, running = 0, waiting = 0;
  double asked_rate = 0, sent_rate = 0;  // Since the last time; asked 0: a closed loop.
  double ttft_ms = 0, itl_ms = 0;        // Means since then; 0: none.
};

// Counts for it.
class ProgressMeter {
 public:
  // wanted: someone looks; else nothing is kept.
  ProgressMeter(const LoadPlan& plan, bool wanted) : plan_(plan), wanted_(wanted) {}

  void begin(std::int64_t at_ns) { begin_ns_ = last_ns_ = at_ns; }
  void note_sent() { ++progress_.sent; }
  void note_ended(const Trace& trace);
  // Means are taken anew from here on.
  Progress report(std::int64_t now_ns, std::int64_t running, std::int64_t waiting, bool warming_up);

 private:
  const LoadPlan& plan_;
  bool wanted_;
  Progress progress_;
  std::int64_t begin_ns_ = 0, last_ns_ = 0, last_sent_ = 0;
  std::vector<double> ttft_ms_, itl_ms_;
};

}  // namespace assay::load
