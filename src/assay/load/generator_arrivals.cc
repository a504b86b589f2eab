#include "assay/load/generator_run.h"

namespace assay::load {
namespace {

constexpr std::int64_t kLeadNs = 2 * kNsPerMs;   // From the preparations' end to the first send.
constexpr std::int64_t kSpareNs = kNsPerMs / 5;  // Nothing is prepared so shortly before a send.
constexpr std::int64_t kLostPauseNs = 100 * kNsPerMs;

}  // namespace

void Generator::next_warmup() {
  if (warmups_begun_ >= plan_.warmups || interrupted_) return;
  // From the other end of the data, so that no prompt is measured that was seen before.
  const std::int64_t number = (1ll << 40) + warmups_begun_++;
  Pending pending = make_pending(
      std::make_shared<Talk>(Talk{dataset_.at(number), 0, Json::array()}), monotonic_ns());
  pending.warmup = true;
  queue_.push_back(std::move(pending));
}

void Generator::begin_measuring() {
  phase_ = Phase::measuring;
  prepare();
  watch_.start();
  run_.begin_ns = monotonic_ns() + kLeadNs;
  schedule_.begin(run_.begin_ns);
  meter_.begin(run_.begin_ns);
  if (plan_.duration_s > 0)
    add_timer(run_.begin_ns + to_ns(plan_.duration_s), Alarm::stop_sending, 0);
  if (plan_.is_open()) {
    plan_next_arrival();
  } else {
    const std::int64_t streams =
        plan_.requests > 0 ? std::min<std::int64_t>(plan_.requests, cap_) : std::int64_t{cap_};
    for (std::int64_t i = 0; i < streams; ++i) next_conversation(run_.begin_ns - kLeadNs);
    pump();
  }
  set_alarm();
  end_if_done();
}

bool Generator::may_begin_more() const {
  return phase_ == Phase::measuring && !sending_stopped_ &&
         (plan_.requests == 0 || begun_ < plan_.requests);
}

void Generator::plan_next_arrival() {
  if (may_begin_more()) {
    if (schedule_.plan_next(talks_)) return;
    sending_stopped_ = true;
  }
  schedule_.stop();
  end_if_done();
}

void Generator::take_arrivals(std::int64_t now) {
  while (phase_ == Phase::measuring && schedule_.next_ns() <= now) {
    const double behind = schedule_.catch_up(now, run_.health);
    // Before the first arrival nothing is put off that a rate would be taken over.
    if (talks_ > 0) run_.shifted_s += behind;
    next_conversation(schedule_.next_ns());
    // A write takes time, too: what is due now is sent before more is looked for.
    pump();
    plan_next_arrival();
    now = monotonic_ns();
  }
}

void Generator::next_conversation(std::int64_t intended_ns) {
  if (!may_begin_more()) return;
  Pending prepared;
  if (prepared_.empty()) {
    prepared = prepared_conversation();
  } else {
    prepared = std::move(prepared_.front());
    prepared_.pop_front();
  }
  ++talks_;
  Pending pending = make_pending(std::move(prepared.talk), intended_ns);
  pending.body = std::move(prepared.body);
  queue_.push_back(std::move(pending));
}

Pending Generator::prepared_conversation() {
  Pending pending;
  const auto number = talks_ + std::ssize(prepared_);
  pending.talk = std::make_shared<Talk>(Talk{dataset_.at(number), 0, Json::array()});
  pending.body = request_body(plan_.shape, pending.talk->ask());
  return pending;
}

void Generator::prepare() {
  if (!plan_.is_open() || !may_begin_more()) return;
  std::int64_t now = monotonic_ns();
  while (prepared_.size() < kMostPrepared) {
    const std::int64_t due = std::min(timers_.next_ns(), schedule_.next_ns());
    if (due != kNever && due - now < kSpareNs + 2 * prepare_ns_) return;
    prepared_.push_back(prepared_conversation());
    const std::int64_t then = monotonic_ns();
    prepare_ns_ = std::max(prepare_ns_, then - std::exchange(now, then));
  }
}

void Generator::next_conversation_later() {
  turns_.emplace(turn_number_, nullptr);
  add_timer(monotonic_ns() + kLostPauseNs, Alarm::turn, turn_number_++);
}

Pending Generator::make_pending(std::shared_ptr<Talk> talk, std::int64_t intended_ns) {
  Pending pending;
  const Turn& turn = talk->turn();
  const bool measured = phase_ == Phase::measuring;
  pending.trace.number = measured ? begun_++ : -warmups_begun_;
  pending.trace.request_id =
      fmt::format("{}-{}{}", plan_.run_id, measured ? "" : "w", std::abs(pending.trace.number));
  pending.trace.intended_ns = intended_ns;
  pending.trace.handled_ns = monotonic_ns();
  pending.trace.asked_input = talk->has_turns() ? 0 : turn.input_tokens;
  pending.trace.most_output = turn.output_tokens * choices_;
  pending.trace.asked_output = plan_.shape.ignore_eos ? pending.trace.most_output : 0;
  pending.trace.turn = static_cast<int>(talk->next);
  if (measured && plan_.is_open() && talk->next == 0) note_lateness(pending.trace);
  pending.talk = std::move(talk);
  return pending;
}

void Generator::note_lateness(const Trace& trace) {
  const std::int64_t late = trace.handled_ns - trace.intended_ns;
  lateness_ms_.push_back(static_cast<double>(late) / kNsPerMs);
  run_.health.late_sends += late > kLateNs;
}

void Generator::next_turn(const std::shared_ptr<Talk>& talk) {
  if (!may_begin_more()) return;
  const std::int64_t at = monotonic_ns() + to_ns(talk->turn().think_s);
  turns_.emplace(turn_number_, talk);
  add_timer(at, Alarm::turn, turn_number_++);
}

void Generator::take_turn(const Timer& timer) {
  const auto found = turns_.find(timer.number);
  if (found == turns_.end()) return;
  const std::shared_ptr<Talk> talk = found->second;
  turns_.erase(found);
  if (!talk)
    next_conversation(timer.at_ns);
  else if (may_begin_more())
    queue_.push_back(make_pending(talk, timer.at_ns));
  pump();
  end_if_done();
}

}  // namespace assay::load
