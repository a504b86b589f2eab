#include "assay/load/generator_run.h"

namespace assay::load {

void Generator::on_answer(net::ConnectionId connection, const net::ResponseHead& head, bool stays,
                          const net::Arrival& arrival) {
  const auto found = active_.find(connection);
  if (found != active_.end()) {
    found->second.exchange->finish(head, arrival);
    if (run_.server.empty()) run_.server = found->second.exchange->software();
  }
  if (stays) use_again(connection);
  if (found != active_.end()) ended(found);
}

void Generator::on_closed(net::ConnectionId connection, const Error& why, bool awaited,
                          const net::Arrival& arrival) {
  const auto found = active_.find(connection);
  const bool was_used = used_.erase(connection) > 0;
  if (found != active_.end()) {
    if (was_used && !found->second.exchange->has_head()) note_closed();
    found->second.exchange->fail(Ending::errored, why.message, arrival.at_ns);
    return ended(found);
  }
  static_cast<void>(awaited);
  if (std::erase(resting_, connection) > 0) return note_closed();
  if (std::erase(idle_, connection) > 0) return;  // Another is opened once it is needed.
  connection_failed(why, arrival);
}

void Generator::give_up(Error error) {
  failure_ = std::move(error);
  client_->stop();
}

void Generator::connection_failed(const Error& why, const net::Arrival& arrival) {
  --connecting_;
  if (phase_ == Phase::connecting)
    return give_up(
        {why.code == ErrorCode::failed ? ErrorCode::unsupported : why.code, why.message});
  if (unconnected_.empty()) return;
  Pending pending = std::move(unconnected_.front());
  unconnected_.pop_front();
  --running_;
  Exchange lost(std::move(pending.trace), plan_.shape, choices_, {});
  lost.fail(Ending::errored, why.message, arrival.at_ns);
  after(pending.talk, pending.warmup, lost.trace());
}

void Generator::ended(ActiveMap::iterator found) {
  const Active active = std::move(found->second);
  active_.erase(found);
  Trace& trace = active.exchange->trace();
  connections_.erase(trace.number);
  if (send_later(active)) return pump();
  --running_;
  if (!active.exchange->fingerprint().empty()) run_.fingerprint = active.exchange->fingerprint();
  if (trace.is_success()) active.talk->take_answer(active.exchange->text());
  after(active.talk, active.warmup, trace);
}

bool Generator::send_later(const Active& active) {
  Trace& trace = active.exchange->trace();
  if (trace.ending != Ending::errored || trace.retries >= plan_.retries || duration_over_)
    return false;
  const auto delay = retry_delay_ns(trace.status, active.exchange->retry_after(), trace.retries);
  if (!delay) return false;
  const std::int64_t number = trace.number;
  again_.emplace(number, Pending{active.talk, "", std::move(trace), active.warmup, false});
  add_timer(monotonic_ns() + *delay, Alarm::retry, number);
  return true;
}

void Generator::give_up_retries() {
  running_ -= static_cast<int>(again_.size());
  for (auto& [number, pending] : again_) keep(pending.trace, pending.warmup);
  again_.clear();
}

void Generator::after(const std::shared_ptr<Talk>& talk, bool warmup, Trace& trace) {
  const bool success = trace.is_success();
  const bool lost = trace.ending == Ending::errored && trace.first_byte_ns == 0;
  keep(trace, warmup);
  if (warmup) {
    ++run_.warmups;
    run_.failed_warmups += !success;
    next_warmup();
    if (running_ == 0 && queue_.empty()) return begin_measuring();
  } else if (success && ++talk->next < talk->turns.size()) {
    next_turn(talk);
  } else if (!plan_.is_open() && lost) {
    next_conversation_later();
  } else if (!plan_.is_open()) {
    next_conversation(monotonic_ns());
  }
  pump();
  set_alarm();
  end_if_done();
}

void Generator::keep(Trace& trace, bool warmup) {
  meter_.note_ended(trace);
  trace.error = without_key(std::move(trace.error), plan_.shape.api_key);
  if (!warmup) kept_.push_back(std::move(trace));
}

void Generator::drop(std::int64_t number, Ending ending, std::string sentence, std::int64_t now) {
  const auto place = connections_.find(number);
  if (place == connections_.end()) return;
  const auto found = active_.find(place->second);
  if (found == active_.end()) return;
  client_->close(place->second);
  used_.erase(place->second);
  found->second.exchange->fail(ending, std::move(sentence), now);
  ended(found);
}

void Generator::queue_unsent() {
  for (Pending& pending : queue_) {
    pending.trace.end_ns = monotonic_ns();
    pending.trace.error = "it waited for a slot until the run's end";
    keep(pending.trace, pending.warmup);
  }
  queue_.clear();
}

void Generator::end_if_done() {
  if (phase_ != Phase::measuring || running_ > 0 || !queue_.empty() || !turns_.empty()) return;
  if (schedule_.next_ns() != kNever) return;
  const bool all_sent = sending_stopped_ || (plan_.requests > 0 && begun_ >= plan_.requests);
  if (all_sent) end();
}

void Generator::interrupted() {
  interrupted_ = run_.interrupted = true;
  end();
}

void Generator::end() {
  if (phase_ == Phase::ended) return;
  watch_.stop(run_.health);
  phase_ = Phase::ended;
  sending_stopped_ = true;
  schedule_.stop();
  const std::int64_t now = monotonic_ns();
  for (auto& [connection, active] : active_) {
    client_->close(connection);
    active.exchange->fail(Ending::incomplete, "the run ended before its answer did", now);
    keep(active.exchange->trace(), active.warmup);
  }
  active_.clear();
  give_up_retries();
  for (Pending& pending : unconnected_) {
    pending.trace.end_ns = now;
    pending.trace.error = "the run ended before a connection was made";
    keep(pending.trace, pending.warmup);
  }
  queue_unsent();
  client_->stop();
}

}  // namespace assay::load
