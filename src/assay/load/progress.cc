#include "assay/load/progress.h"

#include <cmath>

#include "assay/base/clock.h"
#include "assay/load/summary.h"

namespace assay::load {

void ProgressMeter::note_ended(const Trace& trace) {
  ++progress_.ended;
  progress_.errored += trace.ending == Ending::errored;
  if (!wanted_ || !trace.is_success()) return;
  const StreamEvent* first = trace.first_token();
  if (first == nullptr) return;
  ttft_ms_.push_back(static_cast<double>(first->at_ns - trace.sent_ns) / kNsPerMs);
  if (trace.chunks > 1)
    itl_ms_.push_back(static_cast<double>(trace.last_token()->at_ns - first->at_ns) / kNsPerMs /
                      static_cast<double>(trace.chunks - 1));
}

Progress ProgressMeter::report(std::int64_t now_ns, std::int64_t running, std::int64_t waiting,
                               bool warming_up) {
  Progress told = progress_;
  told.seconds = static_cast<double>(now_ns - begin_ns_) / kNsPerSecond;
  told.warming_up = warming_up;
  told.running = running;
  told.waiting = waiting;
  const double since = static_cast<double>(now_ns - last_ns_) / kNsPerSecond;
  if (plan_.arrivals && std::isfinite(plan_.arrivals->rate) && since > 0)
    told.asked_rate = (expected_by(*plan_.arrivals, told.seconds) -
                       expected_by(*plan_.arrivals, told.seconds - since)) /
                      since;
  if (since > 0) told.sent_rate = static_cast<double>(told.sent - last_sent_) / since;
  if (const auto ttft = summarise(ttft_ms_)) told.ttft_ms = ttft->mean;
  if (const auto itl = summarise(itl_ms_)) told.itl_ms = itl->mean;
  last_ns_ = now_ns;
  last_sent_ = told.sent;
  ttft_ms_.clear();
  itl_ms_.clear();
  return told;
}

}  // namespace assay::load
