#pragma once

// When conversations begin in an open loop: absolute times, put off only if this process was away.

#include <cstdint>
#include <optional>

#include "assay/load/arrivals.h"
#include "assay/load/client_health.h"
#include "assay/load/dataset.h"
#include "assay/load/plan.h"
#include "assay/load/timers.h"

namespace assay::load {

class Schedule {
 public:
  Schedule(const LoadPlan& plan, const Dataset& dataset);

  void begin(std::int64_t at_ns) { begin_ns_ = at_ns; }
  // Plans the beginning of a conversation. False: none begins any more.
  bool plan_next(std::int64_t talk);
  void stop() { next_ns_ = kNever; }
  std::int64_t next_ns() const { return next_ns_; }

  // Sending all at once what was missed would be a burst that nobody asked for: the schedule is
  // put off, and each arrival that was missed counts as late. By how many seconds.
  double catch_up(std::int64_t now_ns, ClientHealth& health);

  // Slots that are freed together must not let go a burst above the rate.
  bool has_pace() const;
  std::int64_t paced_ns() const { return paced_ns_; }  // Nothing that waited is sent before.
  void note_dispatch(std::int64_t now_ns);

 private:
  const LoadPlan& plan_;
  const Dataset& dataset_;
  std::optional<Arrivals> arrivals_;
  std::int64_t begin_ns_ = 0, shift_ns_ = 0, next_ns_ = kNever, paced_ns_ = 0;
};

// A span of nanoseconds; kNever if it is too long to count.
std::int64_t to_ns(double seconds);

}  // namespace assay::load
