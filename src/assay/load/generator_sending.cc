#include "assay/load/generator_run.h"

namespace assay::load {

void Generator::on_connected(net::ConnectionId connection) {
  --connecting_;
  idle_.push_back(connection);
  send_unconnected();
  if (phase_ == Phase::connecting && connecting_ == 0) begin();
}

int Generator::opened_ahead() const {
  if (!plan_.is_open()) return std::max(1, std::min(cap_, 1 << 16));
  const double rate = plan_.arrivals && std::isfinite(plan_.arrivals->rate)
                          ? plan_.arrivals->rate
                          : 4.0 * kMostOpenedAhead;
  return std::clamp(static_cast<int>(rate / 4), 4, std::min(cap_, kMostOpenedAhead));
}

Status Generator::open_connection() {
  const auto opened = client_->connect();
  if (!opened) {
    run_.health.ran_out = true;
    return fail(opened.error());
  }
  ++connecting_;
  return {};
}

void Generator::pump() {
  send_unconnected();
  while (!queue_.empty() && running_ < cap_) {
    if (schedule_.has_pace() && queue_.front().trace.queued &&
        monotonic_ns() < schedule_.paced_ns()) {
      add_timer(schedule_.paced_ns(), Alarm::paced, 0);
      break;
    }
    Pending pending = std::move(queue_.front());
    queue_.pop_front();
    dispatch(std::move(pending));
  }
  for (Pending& waiting : queue_) {
    if (waiting.trace.queued) break;
    waiting.trace.queued = true;
  }
}

void Generator::dispatch(Pending pending) {
  ++running_;
  schedule_.note_dispatch(monotonic_ns());
  unconnected_.push_back(std::move(pending));
  send_unconnected();
  if (!unconnected_.empty()) open_or_give_up();
  // The next one finds a connection that is open already.
  if (plan_.is_open() && idle_.size() + static_cast<std::size_t>(connecting_) < 2 &&
      running_ + connecting_ < cap_)
    static_cast<void>(open_connection());
}

void Generator::send_unconnected() {
  while (!unconnected_.empty() && !idle_.empty()) {
    Pending pending = std::move(unconnected_.front());
    unconnected_.pop_front();
    const net::ConnectionId connection = idle_.back();
    idle_.pop_back();
    if (pending.waited) pending.trace.connect_ns = monotonic_ns() - pending.trace.handled_ns;
    send(connection, std::move(pending));
  }
  for (Pending& pending : unconnected_) pending.waited = true;
}

void Generator::open_or_give_up() {
  if (static_cast<std::size_t>(connecting_) >= unconnected_.size()) return;
  const Status opened = open_connection();
  if (!opened && connecting_ == 0 && active_.empty() && resting_.empty()) give_up(opened.error());
}

void Generator::send(net::ConnectionId connection, Pending pending) {
  const std::string body = pending.body.empty() ? request_body(plan_.shape, pending.talk->ask())
                                                : std::move(pending.body);
  const std::string bytes = bytes_.make(pending.trace.request_id, body);
  const bool again = pending.trace.was_sent();
  const std::int64_t number = pending.trace.number;
  const Exchange::Keeps keeps{pending.talk->has_turns(), static_cast<bool>(hooks_.count_tokens)};
  Active active{std::make_unique<Exchange>(std::move(pending.trace), plan_.shape, choices_, keeps),
                pending.talk, pending.warmup, client_->send(connection, bytes)};
  const std::int64_t sent_ns = active.sent_ns;
  if (!again) active.exchange->trace().sent_ns = sent_ns;
  connections_.emplace(number, connection);
  add_timer(sent_ns + to_ns(plan_.timeout_s), Alarm::timeout, number);
  if (!again) note_first_send(number, pending.warmup, body, sent_ns);
  active_.emplace(connection, std::move(active));
}

void Generator::note_first_send(std::int64_t number, bool warmup, std::string_view body,
                                std::int64_t sent_ns) {
  meter_.note_sent();
  if (warmup) return;
  ++run_.health.sends;
  if (hooks_.on_input) hooks_.on_input(number, body);
  if (plan_.cancellation_rate > 0 &&
      cancels_.uniform_unit(static_cast<std::uint64_t>(number)) < plan_.cancellation_rate)
    add_timer(sent_ns + to_ns(plan_.cancellation_delay_s), Alarm::cancel, number);
}

void Generator::use_again(net::ConnectionId connection) {
  if (reuse_ == Reuse::closed) return client_->close(connection);
  used_.insert(connection);
  if (reuse_ == Reuse::kept || resting_.size() >= kMostResting) return idle_.push_back(connection);
  resting_.push_back(connection);
  if (resting_.size() == 1) add_timer(monotonic_ns() + kRestNs, Alarm::rested, 0);
}

void Generator::note_kept() {
  if (reuse_ != Reuse::unknown || resting_.empty()) return;
  reuse_ = Reuse::kept;
  idle_.insert(idle_.end(), resting_.begin(), resting_.end());
  resting_.clear();
}

void Generator::note_closed() {
  reuse_ = Reuse::closed;
  for (const net::ConnectionId connection : std::exchange(resting_, {})) client_->close(connection);
  std::erase_if(idle_, [&](net::ConnectionId connection) {
    const bool is_used = used_.contains(connection);
    if (is_used) client_->close(connection);
    return is_used;
  });
  used_.clear();
}

void Generator::send_again(std::int64_t number) {
  const auto found = again_.find(number);
  if (found == again_.end()) return;
  Pending pending = std::move(found->second);
  again_.erase(found);
  pending.trace.begin_again();
  unconnected_.push_back(std::move(pending));
  send_unconnected();
  if (!unconnected_.empty()) open_or_give_up();
}

}  // namespace assay::load
