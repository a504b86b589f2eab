#include "assay/load/schedule.h"

#include <algorithm>
#include <cmath>

#include "assay/base/clock.h"

namespace assay::load {
namespace {

constexpr std::int64_t kReanchorNs = 10 * kNsPerMs;  // Further behind, the schedule is put off.

}  // namespace

std::int64_t to_ns(double seconds) {
  return seconds >= 9e9 ? kNever : static_cast<std::int64_t>(std::llround(seconds * kNsPerSecond));
}

Schedule::Schedule(const LoadPlan& plan, const Dataset& dataset) : plan_(plan), dataset_(dataset) {
  if (plan.arrivals) arrivals_.emplace(*plan.arrivals, plan.seed);
}

bool Schedule::plan_next(std::int64_t talk) {
  next_ns_ = kNever;
  const std::optional<double> offset =
      plan_.replays_trace ? dataset_.arrival_s(talk) : std::optional(arrivals_->next());
  if (!offset || (plan_.duration_s > 0 && *offset >= plan_.duration_s)) return false;
  next_ns_ = begin_ns_ + shift_ns_ + to_ns(*offset);
  return true;
}

double Schedule::catch_up(std::int64_t now_ns, ClientHealth& health) {
  const std::int64_t behind = now_ns - next_ns_;
  if (behind <= kReanchorNs || (plan_.arrivals && std::isinf(plan_.arrivals->rate))) return 0;
  ++health.reanchored;
  const double seconds = static_cast<double>(behind) / kNsPerSecond;
  health.late_sends += std::llround(plan_.arrivals ? plan_.arrivals->rate * seconds : 1);
  next_ns_ += behind;
  shift_ns_ += behind;
  return seconds;
}

bool Schedule::has_pace() const {
  return plan_.arrivals && plan_.concurrency > 0 && std::isfinite(plan_.arrivals->rate);
}

void Schedule::note_dispatch(std::int64_t now_ns) {
  if (!plan_.arrivals || !std::isfinite(plan_.arrivals->rate)) return;
  const auto& ramp = plan_.arrivals->ramp;
  const double rate = ramp ? std::max(plan_.arrivals->rate, ramp->to_rate) : plan_.arrivals->rate;
  paced_ns_ = now_ns + to_ns(1 / rate);
}

}  // namespace assay::load
