#include "assay/load/generator.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "assay/base/clock.h"
#include "assay/load/exchange.h"
#include "assay/load/request_body.h"
#include "assay/load/retry.h"
#include "assay/load/schedule.h"
#include "assay/load/talk.h"
#include "assay/load/timers.h"
#include "assay/net/client.h"

namespace assay::load {
namespace {

constexpr std::int64_t kTickNs = kNsPerSecond / 2;
constexpr std::int64_t kBodyEndNs = kNsPerSecond;  // From "[DONE]" to the body's end.
constexpr std::int64_t kLeadNs = 2 * kNsPerMs;     // From the preparations' end to the first send.
constexpr int kMostOpenedAhead = 256;
constexpr std::size_t kMostLags = 1 << 20;
constexpr std::string_view kRedacted = "***";

class Generator final : public net::ClientHandler {
 public:
  Generator(const LoadPlan& plan, const Dataset& dataset, const RunHooks& hooks)
      : plan_(plan),
        dataset_(dataset),
        hooks_(hooks),
        cancels_{plan.seed, 7},
        schedule_(plan, dataset),
        meter_(plan, static_cast<bool>(hooks.on_progress)) {
    if (plan.shape.extra.contains("n") && plan.shape.extra["n"].is_number_integer())
      choices_ = std::max(1, plan.shape.extra["n"].get<int>());
    cap_ = plan.concurrency > 0 ? plan.concurrency : std::numeric_limits<int>::max();
  }

  Result<Run> run() {
    ASSAY_TRY(client_, net::Client::create(plan_.server, {plan_.ca_file, 10}, *this));
    if (hooks_.cancel_fd >= 0) {
      ASSAY_TRY(client_->watch(hooks_.cancel_fd, [&] { interrupted(); }));
    }
    phase_ = Phase::connecting;
    const int ahead = opened_ahead();
    for (int i = 0; i < ahead; ++i) {
      ASSAY_TRY(open_connection());
    }
    ASSAY_TRY(client_->run());
    if (failure_) return fail(*failure_);
    return take_result();
  }

  void on_connected(net::ConnectionId connection) override {
    --connecting_;
    idle_.push_back(connection);
    send_unconnected();
    if (phase_ == Phase::connecting && connecting_ == 0) begin();
  }

  void on_body(net::ConnectionId connection, const net::ResponseHead& head, std::string_view bytes,
               const net::Arrival& arrival) override {
    const auto found = active_.find(connection);
    if (found == active_.end()) return;
    note_lag(arrival);
    Exchange& exchange = *found->second.exchange;
    const bool was_done = exchange.said_done();
    exchange.take(head, bytes, arrival);
    if (exchange.said_done() && !was_done)
      add_timer(arrival.read_ns + kBodyEndNs, Alarm::body_end, exchange.trace().number);
  }

  void on_answer(net::ConnectionId connection, const net::ResponseHead& head, bool stays,
                 const net::Arrival& arrival) override {
    const auto found = active_.find(connection);
    if (found != active_.end()) {
      found->second.exchange->finish(head, arrival);
      if (run_.server.empty())
        if (const std::string* server = head.find("server")) run_.server = *server;
    }
    if (stays) idle_.push_back(connection);
    if (found != active_.end()) ended(found);
  }

  void on_closed(net::ConnectionId connection, const Error& why, bool awaited,
                 const net::Arrival& arrival) override {
    const auto found = active_.find(connection);
    if (found != active_.end()) {
      found->second.exchange->fail(Ending::errored, why.message, arrival.at_ns);
      return ended(found);
    }
    static_cast<void>(awaited);
    if (std::erase(idle_, connection) > 0) return;  // Another is opened once it is needed.
    connection_failed(why, arrival);
  }

  void on_time() override {
    const std::int64_t now = monotonic_ns();
    for (Timer timer; timers_.take(now, timer);) ring(timer, now);
    take_arrivals(now);
    pump();
    set_alarm();
  }

 private:
  enum class Phase { connecting, warmup, measuring, ended };

  struct Active {
    std::unique_ptr<Exchange> exchange;
    std::shared_ptr<Talk> talk;
    bool warmup = false;
    std::int64_t sent_ns = 0;  // This time.
  };
  using ActiveMap = std::unordered_map<net::ConnectionId, Active>;

  int opened_ahead() const {
    if (!plan_.is_open()) return std::max(1, std::min(cap_, 1 << 16));
    const double rate = plan_.arrivals && std::isfinite(plan_.arrivals->rate)
                            ? plan_.arrivals->rate
                            : 4.0 * kMostOpenedAhead;
    return std::clamp(static_cast<int>(rate / 4), 4, std::min(cap_, kMostOpenedAhead));
  }

  Status open_connection() {
    const auto opened = client_->connect();
    if (!opened) {
      run_.health.ran_out = true;
      return fail(opened.error());
    }
    ++connecting_;
    return {};
  }

  void give_up(Error error) {
    failure_ = std::move(error);
    client_->stop();
  }

  void connection_failed(const Error& why, const net::Arrival& arrival) {
    --connecting_;
    if (phase_ == Phase::connecting)
      return give_up(
          {why.code == ErrorCode::failed ? ErrorCode::unsupported : why.code, why.message});
    if (unconnected_.empty()) return;
    Pending pending = std::move(unconnected_.front());
    unconnected_.pop_front();
    --running_;
    Exchange lost(std::move(pending.trace), plan_.shape, choices_, false);
    lost.fail(Ending::errored, why.message, arrival.at_ns);
    keep(lost.trace(), pending.warmup);
    after(pending.talk, pending.warmup, false);
  }

  // Warm-up first, if there is any.
  void begin() {
    if (hooks_.on_progress) add_timer(monotonic_ns() + kTickNs, Alarm::tick, 0);
    if (plan_.warmups == 0) return begin_measuring();
    phase_ = Phase::warmup;
    meter_.begin(monotonic_ns());
    const int streams = std::min({plan_.warmups, cap_, kMostOpenedAhead});
    for (int i = 0; i < streams; ++i) next_warmup();
    pump();
    set_alarm();
  }

  void next_warmup() {
    if (warmups_begun_ >= plan_.warmups || interrupted_) return;
    // From the other end of the data, so that no prompt is measured that was seen before.
    const std::int64_t number = (1ll << 40) + warmups_begun_++;
    Pending pending = make_pending(
        std::make_shared<Talk>(Talk{dataset_.at(number), 0, Json::array()}), monotonic_ns());
    pending.warmup = true;
    queue_.push_back(std::move(pending));
  }

  void begin_measuring() {
    phase_ = Phase::measuring;
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

  bool may_begin_more() const {
    return phase_ == Phase::measuring && !sending_stopped_ &&
           (plan_.requests == 0 || begun_ < plan_.requests);
  }

  void plan_next_arrival() {
    if (may_begin_more()) {
      if (schedule_.plan_next(talks_)) return;
      sending_stopped_ = true;
    }
    schedule_.stop();
    end_if_done();
  }

  void take_arrivals(std::int64_t now) {
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

  void next_conversation(std::int64_t intended_ns) {
    if (!may_begin_more()) return;
    auto talk = std::make_shared<Talk>(Talk{dataset_.at(talks_++), 0, Json::array()});
    queue_.push_back(make_pending(std::move(talk), intended_ns));
  }

  Pending make_pending(std::shared_ptr<Talk> talk, std::int64_t intended_ns) {
    Pending pending;
    const Turn& turn = talk->turn();
    const bool measured = phase_ == Phase::measuring;
    pending.trace.number = measured ? begun_++ : -warmups_begun_;
    pending.trace.request_id =
        fmt::format("{}-{}{}", plan_.run_id, measured ? "" : "w", std::abs(pending.trace.number));
    pending.trace.intended_ns = intended_ns;
    pending.trace.handled_ns = monotonic_ns();
    pending.trace.asked_input = talk->has_turns() ? 0 : turn.input_tokens;
    pending.trace.asked_output = plan_.shape.ignore_eos ? turn.output_tokens : 0;
    pending.trace.turn = static_cast<int>(talk->next);
    if (measured && plan_.is_open() && talk->next == 0) note_lateness(pending.trace);
    pending.talk = std::move(talk);
    return pending;
  }

  void note_lateness(const Trace& trace) {
    const std::int64_t late = trace.handled_ns - trace.intended_ns;
    lateness_ms_.push_back(static_cast<double>(late) / kNsPerMs);
    run_.health.late_sends += late > kLateNs;
  }

  // Sends what waits, as far as the cap allows.
  void pump() {
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

  void dispatch(Pending pending) {
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

  // Requests for which no connection was open when they were due, in order.
  void send_unconnected() {
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

  // Without a descriptor or a port it waits for one of those connections that there are.
  void open_or_give_up() {
    if (static_cast<std::size_t>(connecting_) >= unconnected_.size()) return;
    const Status opened = open_connection();
    if (!opened && connecting_ == 0 && active_.empty()) give_up(opened.error());
  }

  void send(net::ConnectionId connection, Pending pending) {
    const std::string body = request_body(plan_.shape, pending.talk->ask());
    const std::string bytes = request_bytes(plan_, pending.trace.request_id, body);
    const bool again = pending.trace.was_sent();
    const std::int64_t number = pending.trace.number;
    const bool wants_text = pending.talk->has_turns();
    Active active{
        std::make_unique<Exchange>(std::move(pending.trace), plan_.shape, choices_, wants_text),
        pending.talk, pending.warmup, client_->send(connection, bytes)};
    const std::int64_t sent_ns = active.sent_ns;
    if (!again) active.exchange->trace().sent_ns = sent_ns;
    connections_.emplace(number, connection);
    add_timer(sent_ns + to_ns(plan_.timeout_s), Alarm::timeout, number);
    if (!again) note_first_send(number, pending.warmup, body, sent_ns);
    active_.emplace(connection, std::move(active));
  }

  void note_first_send(std::int64_t number, bool warmup, std::string_view body,
                       std::int64_t sent_ns) {
    meter_.note_sent();
    if (warmup) return;
    ++run_.health.sends;
    if (hooks_.on_input) hooks_.on_input(number, body);
    if (plan_.cancellation_rate > 0 &&
        cancels_.uniform_unit(static_cast<std::uint64_t>(number)) < plan_.cancellation_rate)
      add_timer(sent_ns + to_ns(plan_.cancellation_delay_s), Alarm::cancel, number);
  }

  void ended(ActiveMap::iterator found) {
    const Active active = std::move(found->second);
    active_.erase(found);
    Trace& trace = active.exchange->trace();
    connections_.erase(trace.number);
    if (send_later(active)) return pump();
    --running_;
    if (!active.exchange->fingerprint().empty()) run_.fingerprint = active.exchange->fingerprint();
    const bool success = trace.is_success();
    if (success) active.talk->take_answer(active.exchange->text());
    keep(trace, active.warmup);
    after(active.talk, active.warmup, success);
  }

  // A request that was refused for now keeps its slot while it waits to be sent again.
  bool send_later(const Active& active) {
    Trace& trace = active.exchange->trace();
    if (trace.ending != Ending::errored || trace.retries >= plan_.retries || duration_over_)
      return false;
    const auto delay = retry_delay_ns(trace.status, active.exchange->retry_after(), trace.retries);
    if (!delay) return false;
    const std::int64_t number = trace.number;
    again_.emplace(number, Pending{active.talk, std::move(trace), active.warmup, false});
    add_timer(monotonic_ns() + *delay, Alarm::retry, number);
    return true;
  }

  void send_again(std::int64_t number) {
    const auto found = again_.find(number);
    if (found == again_.end()) return;
    Pending pending = std::move(found->second);
    again_.erase(found);
    pending.trace.begin_again();
    unconnected_.push_back(std::move(pending));
    send_unconnected();
    if (!unconnected_.empty()) open_or_give_up();
  }

  // What still waits to be sent again ends as it was last refused.
  void give_up_retries() {
    running_ -= static_cast<int>(again_.size());
    for (auto& [number, pending] : again_) keep(pending.trace, pending.warmup);
    again_.clear();
  }

  // What follows a request's end: its conversation's next turn, or its stream's next conversation.
  void after(const std::shared_ptr<Talk>& talk, bool warmup, bool success) {
    if (warmup) {
      ++run_.warmups;
      run_.failed_warmups += !success;
      next_warmup();
      if (running_ == 0 && queue_.empty()) return begin_measuring();
    } else if (success && ++talk->next < talk->turns.size()) {
      next_turn(talk);
    } else if (!plan_.is_open()) {
      next_conversation(monotonic_ns());
    }
    pump();
    set_alarm();
    end_if_done();
  }

  void next_turn(const std::shared_ptr<Talk>& talk) {
    if (!may_begin_more()) return;
    const std::int64_t at = monotonic_ns() + to_ns(talk->turn().think_s);
    turns_.emplace(turn_number_, talk);
    add_timer(at, Alarm::turn, turn_number_++);
  }

  void keep(Trace& trace, bool warmup) {
    meter_.note_ended(trace);
    redact(trace.error);
    if (!warmup) run_.traces.push_back(std::move(trace));
  }

  // Servers repeat a key that they do not take.
  void redact(std::string& text) const {
    const std::string& key = plan_.shape.api_key;
    if (key.empty()) return;
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
      text.replace(at, key.size(), kRedacted);
  }

  void note_lag(const net::Arrival& arrival) {
    if (phase_ != Phase::measuring || lags_ms_.size() >= kMostLags) return;
    lags_ms_.push_back(static_cast<double>(arrival.read_ns - arrival.at_ns) / kNsPerMs);
  }

  void ring(const Timer& timer, std::int64_t now) {
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
      case Alarm::paced:
        return;  // pump() follows.
    }
  }

  void take_turn(const Timer& timer) {
    const auto found = turns_.find(timer.number);
    if (found == turns_.end()) return;
    const std::shared_ptr<Talk> talk = found->second;
    turns_.erase(found);
    if (may_begin_more()) queue_.push_back(make_pending(talk, timer.at_ns));
    pump();
    end_if_done();
  }

  // The timer of an earlier time that it was sent means nothing.
  void time_out(const Timer& timer, std::int64_t now) {
    const auto place = connections_.find(timer.number);
    if (place == connections_.end()) return;
    if (timer.at_ns < active_.at(place->second).sent_ns + to_ns(plan_.timeout_s)) return;
    drop(timer.number, Ending::errored,
         fmt::format("no whole answer came within {} s", plan_.timeout_s), now);
  }

  // Ends a request that is under way, and its connection.
  void drop(std::int64_t number, Ending ending, std::string sentence, std::int64_t now) {
    const auto place = connections_.find(number);
    if (place == connections_.end()) return;
    const auto found = active_.find(place->second);
    if (found == active_.end()) return;
    client_->close(place->second);
    found->second.exchange->fail(ending, std::move(sentence), now);
    ended(found);
  }

  // What waited for a slot until the duration's end was never sent.
  void queue_unsent() {
    for (Pending& pending : queue_) {
      pending.trace.end_ns = monotonic_ns();
      pending.trace.error = "it waited for a slot until the run's end";
      keep(pending.trace, pending.warmup);
    }
    queue_.clear();
  }

  void add_timer(std::int64_t at_ns, Alarm alarm, std::int64_t number) {
    if (timers_.add({at_ns, alarm, number})) set_alarm();
  }

  void set_alarm() {
    const std::int64_t at = std::min(timers_.next_ns(), schedule_.next_ns());
    if (at != kNever && phase_ != Phase::ended) client_->wake_at(at);
  }

  void end_if_done() {
    if (phase_ != Phase::measuring || running_ > 0 || !queue_.empty() || !turns_.empty()) return;
    if (schedule_.next_ns() != kNever) return;
    const bool all_sent = sending_stopped_ || (plan_.requests > 0 && begun_ >= plan_.requests);
    if (all_sent) end();
  }

  void interrupted() {
    interrupted_ = run_.interrupted = true;
    end();
  }

  void end() {
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

  Run take_result() {
    std::ranges::sort(run_.traces, {}, &Trace::number);
    run_.health.lateness_ms = summarise(std::move(lateness_ms_));
    run_.health.loop_lag_ms = summarise(std::move(lags_ms_));
    return std::move(run_);
  }

  const LoadPlan& plan_;
  const Dataset& dataset_;
  const RunHooks& hooks_;
  CounterRandom cancels_;
  std::unique_ptr<net::Client> client_;
  Schedule schedule_;
  ProgressMeter meter_;
  Timers timers_;
  std::optional<Error> failure_;
  Phase phase_ = Phase::connecting;
  Run run_;
  HealthWatch watch_;
  int cap_ = 0, choices_ = 1, running_ = 0, connecting_ = 0;
  bool sending_stopped_ = false, duration_over_ = false, interrupted_ = false;
  std::int64_t begun_ = 0, talks_ = 0, warmups_begun_ = 0, turn_number_ = 0;
  std::deque<Pending> queue_, unconnected_;
  std::vector<net::ConnectionId> idle_;
  ActiveMap active_;
  std::unordered_map<std::int64_t, net::ConnectionId> connections_;  // By number of request.
  std::map<std::int64_t, std::shared_ptr<Talk>> turns_;
  std::map<std::int64_t, Pending> again_;  // By number of request.
  std::vector<double> lateness_ms_, lags_ms_;
};

}  // namespace

Result<Run> run_load(const LoadPlan& plan, const Dataset& dataset, const RunHooks& hooks) {
  return Generator(plan, dataset, hooks).run();
}

}  // namespace assay::load
