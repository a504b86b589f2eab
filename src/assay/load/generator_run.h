#pragma once

// What run_load() runs: one thread, one event at a time. Conversations arrive
// (generator_arrivals.cc), their requests are sent (generator_sending.cc) and end
// (generator_endings.cc); what waits for a time rings then (generator_timers.cc).

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "assay/base/clock.h"
#include "assay/load/exchange.h"
#include "assay/load/generator.h"
#include "assay/load/request_body.h"
#include "assay/load/retry.h"
#include "assay/load/schedule.h"
#include "assay/load/talk.h"
#include "assay/load/timers.h"
#include "assay/net/client.h"

namespace assay::load {

class Generator final : public net::ClientHandler {
 public:
  Generator(const LoadPlan& plan, const Dataset& dataset, const RunHooks& hooks)
      : plan_(plan),
        dataset_(dataset),
        hooks_(hooks),
        bytes_(plan),
        cancels_{plan.seed, 7},
        schedule_(plan, dataset),
        meter_(plan, static_cast<bool>(hooks.on_progress)) {
    if (plan.shape.extra.contains("n") && plan.shape.extra["n"].is_number_integer())
      choices_ = std::max(1, plan.shape.extra["n"].get<int>());
    cap_ = plan.concurrency > 0 ? plan.concurrency : std::numeric_limits<int>::max();
  }

  Result<Run> run();

  void on_connected(net::ConnectionId connection) override;
  void on_body(net::ConnectionId connection, const net::ResponseHead& head, std::string_view bytes,
               const net::Arrival& arrival) override;
  void on_answer(net::ConnectionId connection, const net::ResponseHead& head, bool stays,
                 const net::Arrival& arrival) override;
  void on_closed(net::ConnectionId connection, const Error& why, bool awaited,
                 const net::Arrival& arrival) override;
  void on_time() override;

 private:
  enum class Phase { connecting, warmup, measuring, ended };
  // What the server does with a connection behind an answer, whatever its headers say. Some close
  // each behind a stream: a request that leaves on it at once meets the end, and is lost.
  enum class Reuse { unknown, kept, closed };

  struct Active {
    std::unique_ptr<Exchange> exchange;
    std::shared_ptr<Talk> talk;
    bool warmup = false;
    std::int64_t sent_ns = 0;  // This time.
  };
  using ActiveMap = std::unordered_map<net::ConnectionId, Active>;

  static constexpr std::int64_t kTickNs = kNsPerSecond / 2;
  static constexpr int kMostOpenedAhead = 256;
  static constexpr std::size_t kMostPrepared = 64;
  // How long the first connections stay unused behind an answer, and how many of them.
  static constexpr std::int64_t kRestNs = 10 * kNsPerMs;
  static constexpr std::size_t kMostResting = 16;

  // Warm-up first, if there is any.
  void begin();
  void note_lag(const net::Arrival& arrival);
  Status count_tokens();
  Result<Run> take_result();

  // Arrivals.
  void next_warmup();
  void begin_measuring();
  bool may_begin_more() const;
  void plan_next_arrival();
  void take_arrivals(std::int64_t now);
  void next_conversation(std::int64_t intended_ns);
  // Makes bodies that are due later, as long as it keeps nothing that is due from its time.
  void prepare();
  Pending prepared_conversation();
  // A server that cannot be reached fails at once: without a pause its stream would fill the
  // memory with failures.
  void next_conversation_later();
  void next_turn(const std::shared_ptr<Talk>& talk);
  void take_turn(const Timer& timer);
  Pending make_pending(std::shared_ptr<Talk> talk, std::int64_t intended_ns);
  void note_lateness(const Trace& trace);

  // Sending.
  int opened_ahead() const;
  Status open_connection();
  // Without a descriptor or a port it waits for one of those connections that there are.
  void open_or_give_up();
  // Sends what waits, as far as the cap allows.
  void pump();
  void dispatch(Pending pending);
  // Requests for which no connection was open when they were due, in order.
  void send_unconnected();
  void send(net::ConnectionId connection, Pending pending);
  void note_first_send(std::int64_t number, bool warmup, std::string_view body,
                       std::int64_t sent_ns);
  void send_again(std::int64_t number);
  // An answer ended on it, and the server said that it stays.
  void use_again(net::ConnectionId connection);
  // Those that rested so long are still open.
  void note_kept();
  // The server closed one behind an answer: none is used twice any more.
  void note_closed();

  // Timers.
  void ring(const Timer& timer, std::int64_t now);
  // The timer of an earlier time that it was sent means nothing.
  void time_out(const Timer& timer, std::int64_t now);
  void add_timer(std::int64_t at_ns, Alarm alarm, std::int64_t number);
  void set_alarm();

  // Endings.
  void give_up(Error error);
  void connection_failed(const Error& why, const net::Arrival& arrival);
  void ended(ActiveMap::iterator found);
  // A request that was refused for now keeps its slot while it waits to be sent again.
  bool send_later(const Active& active);
  // What still waits to be sent again ends as it was last refused.
  void give_up_retries();
  // Keeps what happened; then follows its conversation's next turn, or its stream's next
  // conversation.
  void after(const std::shared_ptr<Talk>& talk, bool warmup, Trace& trace);
  void keep(Trace& trace, bool warmup);
  // Servers repeat a key that they do not take.
  // Ends a request that is under way, and its connection.
  void drop(std::int64_t number, Ending ending, std::string sentence, std::int64_t now);
  // What waited for a slot until the duration's end was never sent.
  void queue_unsent();
  void end_if_done();
  void interrupted();
  void end();

  const LoadPlan& plan_;
  const Dataset& dataset_;
  const RunHooks& hooks_;
  RequestBytes bytes_;
  CounterRandom cancels_;
  std::unique_ptr<net::Client> client_;
  Schedule schedule_;
  ProgressMeter meter_;
  Timers timers_;
  std::optional<Error> failure_;
  Phase phase_ = Phase::connecting;
  Run run_;
  std::deque<Trace> kept_;  // Of run_: one that grows does not move the others meanwhile.
  HealthWatch watch_;
  int cap_ = 0, choices_ = 1, running_ = 0, connecting_ = 0;
  bool sending_stopped_ = false, duration_over_ = false, interrupted_ = false;
  std::int64_t begun_ = 0, talks_ = 0, warmups_begun_ = 0, turn_number_ = 0;
  std::deque<Pending> prepared_;  // Of the conversations from talks_ on; only talk and body.
  std::int64_t prepare_ns_ = 0;   // How long the longest took.
  std::deque<Pending> queue_, unconnected_;
  std::vector<net::ConnectionId> idle_, resting_;
  std::unordered_set<net::ConnectionId> used_;  // Those that brought an answer, and are open.
  Reuse reuse_ = Reuse::unknown;
  ActiveMap active_;
  std::unordered_map<std::int64_t, net::ConnectionId> connections_;  // By number of request.
  std::map<std::int64_t, std::shared_ptr<Talk>> turns_;
  std::map<std::int64_t, Pending> again_;      // By number of request.
  std::vector<double> lateness_ms_, lags_ms_;  // lags_ms_: of every lag_stride_th read.
  std::size_t reads_ = 0, lag_stride_ = 1;
};

}  // namespace assay::load
