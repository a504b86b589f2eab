#include "assay/load/generator.h"

#include "assay/load/generator_run.h"

namespace assay::load {
namespace {

constexpr std::int64_t kBodyEndNs = kNsPerSecond;  // From "[DONE]" to the body's end.
constexpr std::size_t kMostLags = 1 << 20;

}  // namespace

Result<Run> Generator::run() {
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

void Generator::on_body(net::ConnectionId connection, const net::ResponseHead& head,
                        std::string_view bytes, const net::Arrival& arrival) {
  const auto found = active_.find(connection);
  if (found == active_.end()) return;
  note_lag(arrival);
  Exchange& exchange = *found->second.exchange;
  const bool was_done = exchange.said_done();
  exchange.take(head, bytes, arrival);
  if (exchange.is_too_long())
    return drop(exchange.trace().number, Ending::errored, "", arrival.read_ns);
  if (exchange.said_done() && !was_done)
    add_timer(arrival.read_ns + kBodyEndNs, Alarm::body_end, exchange.trace().number);
}

void Generator::begin() {
  if (hooks_.on_progress) add_timer(monotonic_ns() + kTickNs, Alarm::tick, 0);
  if (plan_.warmups == 0) return begin_measuring();
  phase_ = Phase::warmup;
  meter_.begin(monotonic_ns());
  const int streams = std::min({plan_.warmups, cap_, kMostOpenedAhead});
  for (int i = 0; i < streams; ++i) next_warmup();
  pump();
  set_alarm();
}

void Generator::note_lag(const net::Arrival& arrival) {
  if (phase_ != Phase::measuring || reads_++ % lag_stride_ != 0) return;
  // Every second one stays, so that those kept are spread over the whole run, however long.
  if (lags_ms_.size() == kMostLags) {
    for (std::size_t i = 0; i < kMostLags / 2; ++i) lags_ms_[i] = lags_ms_[2 * i];
    lags_ms_.resize(kMostLags / 2);
    lag_stride_ *= 2;
  }
  lags_ms_.push_back(static_cast<double>(arrival.read_ns - arrival.at_ns) / kNsPerMs);
}

// Tokens are counted of the joined text: cut at chunks, it would give more.
Status Generator::count_tokens() {
  for (Trace& trace : run_.traces) {
    if (trace.texts.empty()) continue;
    std::int64_t tokens = 0;
    for (const std::string& text : trace.texts) {
      ASSAY_TRY(const std::int64_t some, hooks_.count_tokens(text));
      tokens += some;
    }
    trace.tokenized = tokens;
    trace.texts = {};
  }
  return {};
}

Result<Run> Generator::take_result() {
  run_.traces.assign(std::move_iterator(kept_.begin()), std::move_iterator(kept_.end()));
  kept_.clear();
  if (hooks_.count_tokens) ASSAY_TRY(count_tokens());
  std::ranges::sort(run_.traces, {}, &Trace::number);
  run_.health.lateness_ms = summarise(std::move(lateness_ms_));
  run_.health.loop_lag_ms = summarise(std::move(lags_ms_));
  return std::move(run_);
}

Result<Run> run_load(const LoadPlan& plan, const Dataset& dataset, const RunHooks& hooks) {
  return Generator(plan, dataset, hooks).run();
}

}  // namespace assay::load
