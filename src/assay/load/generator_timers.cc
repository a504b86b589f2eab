#include "assay/load/generator_run.h"

namespace assay::load {

void Generator::on_time() {
  const std::int64_t now = monotonic_ns();
  for (Timer timer; timers_.take(now, timer);) ring(timer, now);
  take_arrivals(now);
  pump();
  prepare();
  set_alarm();
}

void Generator::ring(const Timer& timer, std::int64_t now) {
  switch (timer.alarm) {
    case Alarm::turn:
      return take_turn(timer);
    case Alarm::cancel:
      return drop(timer.number, Ending::cancelled, "cancelled, as asked", now);
    case Alarm::timeout:
      return time_out(timer, now);
    case Alarm::retry:
      return send_again(timer.number);
    case Alarm::body_end:
      return drop(timer.number, Ending::errored,
                  "the body did not end behind the end of the stream", now);
    case Alarm::stop_sending:
      sending_stopped_ = duration_over_ = true;
      schedule_.stop();
      queue_unsent();
      give_up_retries();
      turns_.clear();
      add_timer(now + to_ns(plan_.grace_s), Alarm::stop_waiting, 0);
      return end_if_done();
    case Alarm::stop_waiting:
      return end();
    case Alarm::tick:
      hooks_.on_progress(meter_.report(now, running_, static_cast<std::int64_t>(queue_.size()),
                                       phase_ == Phase::warmup));
      return add_timer(now + kTickNs, Alarm::tick, 0);
    case Alarm::rested:
      return note_kept();
    case Alarm::paced:
      return;  // pump() follows.
  }
}

void Generator::time_out(const Timer& timer, std::int64_t now) {
  const auto place = connections_.find(timer.number);
  if (place == connections_.end()) return;
  if (timer.at_ns < active_.at(place->second).sent_ns + to_ns(plan_.timeout_s)) return;
  drop(timer.number, Ending::errored,
       fmt::format("no whole answer came within {} s", plan_.timeout_s), now);
}

void Generator::add_timer(std::int64_t at_ns, Alarm alarm, std::int64_t number) {
  if (timers_.add({at_ns, alarm, number})) set_alarm();
}

void Generator::set_alarm() {
  const std::int64_t at = std::min(timers_.next_ns(), schedule_.next_ns());
  if (at != kNever && phase_ != Phase::ended) client_->wake_at(at);
}

}  // namespace assay::load
