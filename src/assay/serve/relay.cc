#include "assay/serve/relay.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/net/sse_frame.h"
#include "assay/serve/body_fields.h"
#include "assay/serve/model_list.h"

namespace assay::serve {
namespace {

constexpr std::int64_t kHealthLookNs = 50 * kNsPerMs;  // Between looks at the upstream.
constexpr double kHealthSeconds = 5;
constexpr std::size_t kMostAnswerBytes = 64 << 20;  // Of an answer that is no stream.

bool is_stream(const net::ResponseHead& head) {
  const std::string* type = head.find("content-type");
  return type != nullptr && net::lower_case(*type).starts_with("text/event-stream");
}

bool is_good(int status) { return status >= 200 && status < 300; }

}  // namespace

Relay::Relay(DeskOptions options, Upstream upstream, std::function<void()> gave_up)
    : desk_(std::move(options)), upstream_(std::move(upstream)), gave_up_(std::move(gave_up)) {}

void Relay::attach(net::Outlet& outlet, net::Caller& caller) {
  outlet_ = &outlet;
  caller_ = &caller;
  on_time();
}

void Relay::on_time() {
  const std::int64_t now = monotonic_ns();
  look_at_upstream();
  if (state_ == State::waiting && now >= restarts_.retry_ns()) start();
  if (state_ == State::starting && health_ == 0 && now - asked_ns_ >= kHealthLookNs) ask_health();
  const auto limit = static_cast<std::int64_t>(upstream_.options().ready_seconds * kNsPerSecond);
  if (state_ == State::starting && now - started_ns_ > limit) {
    upstream_.program().stop();
    start_failed(fmt::format("was not ready after {} s", upstream_.options().ready_seconds));
  }
  if (state_ != State::given_up) outlet_->wake_at(now + kHealthLookNs);
}

void Relay::start() {
  state_ = State::starting;
  started_ns_ = monotonic_ns();
  asked_ns_ = 0;
  ended_.clear();
  if (const Status started = upstream_.start(); !started) start_failed(started.error().message);
}

void Relay::look_at_upstream() {
  const auto ended = upstream_.program().look();
  if (!ended || state_ == State::given_up) return;
  ended_ = *ended;
  start_failed(*ended);
}

void Relay::start_failed(std::string_view why) {
  if (health_ != 0) caller_->cancel(std::exchange(health_, 0));
  ended_ = why;
  if (restarts_.ended(monotonic_ns())) {
    state_ = State::waiting;
    return;
  }
  state_ = State::given_up;
  failure_ = reason(fmt::format("the upstream server would not stay up: at the start number {} it",
                                restarts_.in_a_row()));
  gave_up_();
}

std::string Relay::reason(std::string_view what) {
  return upstream_.program().account(what, ended_);
}

void Relay::ask_health() {
  const std::uint16_t port = upstream_.port();
  if (port == 0) return;
  asked_ns_ = monotonic_ns();
  health_status_ = 0;
  health_ = caller_->call(
      port,
      fmt::format("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", port),
      kHealthSeconds, *this);
}

// A server without that path is one that answers.
void Relay::heard_of_health(bool answered) {
  health_ = 0;
  if (state_ != State::starting || !answered) return;
  if (!is_good(health_status_) && health_status_ != 404) return;
  state_ = State::ready;
  restarts_.ready(monotonic_ns());
}

net::Response Relay::not_ready() {
  std::string message = "The model is being loaded.";
  if (state_ == State::waiting || !ended_.empty())
    message = reason("The upstream server is started again: it");
  return error_response({.status = 503, .message = std::move(message)});
}

std::optional<net::Response> Relay::own_answer(const net::Request& request,
                                               const RouteMatch& match) {
  if (auto refused = desk_.refuse(request, match)) return refused;
  const std::string_view path = match.route->path;
  const bool ready = state_ == State::ready;
  if (path == "/version") return version_response(desk_.site(), "process");
  if (path == "/health" || path == "/ping" || path == "/v1/health")
    return ready ? json_response(R"({"status":"ok"})") : not_ready();
  if (ready) return std::nullopt;
  auto otherwise = fallback(request, match);
  return otherwise ? otherwise : not_ready();
}

// What can be told if the upstream does not tell it.
std::optional<net::Response> Relay::fallback(const net::Request& request,
                                             const RouteMatch& match) const {
  const std::string_view path = match.route->path;
  if (request.method != "GET") return std::nullopt;
  if (path == "/v1/models") return model_list_response(desk_.site(), std::nullopt);
  if (path == "/v1/models/" && match.rest == desk_.site().model)
    return model_response(desk_.site(), std::nullopt);
  if (path == "/metrics")
    return metrics_response(
        metrics_.text(desk_.site().model, {static_cast<int>(active_.size()), 0}));
  return std::nullopt;
}

// Written anew, so that the upstream reads what was checked here and nothing else.
Outcome<std::string> Relay::passed_on(const net::Request& request, const Visit& visit) const {
  std::string body;
  if (request.method == "POST" && !request.body.empty()) {
    auto parsed = parse_body(request.body);
    if (!parsed) return refuse(parsed.error());
    body = parsed->dump();
  }
  net::Request passed{request.method == "HEAD" ? "GET" : request.method, request.target, 1, {}, {}};
  std::string text = fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n",
                                 passed.method, passed.target);
  const std::string* accept = request.find("accept");
  if (accept != nullptr) fmt::format_to(std::back_inserter(text), "Accept: {}\r\n", *accept);
  fmt::format_to(std::back_inserter(text), "X-Request-Id: {}\r\n", visit.request_id);
  if (request.method == "POST")
    fmt::format_to(std::back_inserter(text),
                   "Content-Type: application/json\r\nContent-Length: {}\r\n", body.size());
  return text + "\r\n" + body;
}

void Relay::on_request(net::ExchangeId exchange, net::Request request) {
  Visit visit = desk_.receive(request);
  const RouteMatch match = find_route(request.method, request.target);
  if (auto own = own_answer(request, match))
    return respond(exchange, visit, std::move(*own), "answered");
  const auto text = passed_on(request, visit);
  if (!text) return respond(exchange, visit, error_response(text.error()), "answered");
  const net::CallId call = caller_->call(upstream_.port(), *text, 0, *this);
  Active& active = active_[call];
  active.exchange = exchange;
  active.visit = std::move(visit);
  active.otherwise = fallback(request, match);
  calls_[exchange] = call;
}

void Relay::respond(net::ExchangeId exchange, Visit& visit, net::Response response,
                    std::string_view ending) {
  desk_.decorate(response, visit);
  visit.status = response.status;
  outlet_->answer(exchange, response);
  desk_.log(visit, {}, ending);
}

void Relay::on_head(net::CallId call, const net::ResponseHead& head) {
  if (call == health_) {
    health_status_ = head.status;
    return;
  }
  const auto found = active_.find(call);
  if (found == active_.end()) return;
  Active& active = found->second;
  active.response.status = active.visit.status = head.status;
  if (const std::string* type = head.find("content-type"))
    active.response.headers.push_back({"Content-Type", *type});
  active.streams = is_stream(head) && is_good(head.status);
  if (!active.streams) return;
  active.response.headers.push_back({"Cache-Control", "no-cache"});
  active.response.headers.push_back({"X-Accel-Buffering", "no"});
  desk_.decorate(active.response, active.visit);
}

void Relay::on_body(net::CallId call, std::string_view bytes) {
  const auto found = active_.find(call);
  if (found == active_.end()) return;
  Active& active = found->second;
  if (!active.streams) {
    active.response.body.append(bytes);
    if (active.response.body.size() <= kMostAnswerBytes) return;
    caller_->cancel(call);
    return on_failed(call, "its answer is too long");
  }
  active.last_bytes.append(
      bytes.substr(bytes.size() - std::min(bytes.size(), net::kFrameEnd.size())));
  if (active.last_bytes.size() > net::kFrameEnd.size())
    active.last_bytes.erase(0, active.last_bytes.size() - net::kFrameEnd.size());
  if (!std::exchange(active.begun, true)) {
    outlet_->begin(active.exchange, active.response);
    metrics_.first_token.add(static_cast<double>(monotonic_ns() - active.visit.accepted_ns) /
                             kNsPerSecond);
  }
  if (!outlet_->send(active.exchange, bytes)) caller_->hold(call, true);
}

void Relay::on_end(net::CallId call) {
  if (call == health_) return heard_of_health(true);
  const auto found = active_.find(call);
  if (found == active_.end()) return;
  Active& active = found->second;
  if (active.streams) {
    if (!active.begun) outlet_->begin(active.exchange, active.response);
    outlet_->end(active.exchange);
    return forget(call, "done");
  }
  net::Response response = active.otherwise && !is_good(active.response.status)
                               ? std::move(*active.otherwise)
                               : std::move(active.response);
  desk_.decorate(response, active.visit);
  active.visit.status = response.status;
  outlet_->answer(active.exchange, response);
  forget(call, "done");
}

// The upstream often ends a moment after its connections do, and its reason is worth more.
void Relay::on_failed(net::CallId call, std::string_view why) {
  if (call == health_) return heard_of_health(false);
  const auto found = active_.find(call);
  if (found == active_.end()) return;
  look_at_upstream();
  Active& active = found->second;
  const std::string message =
      ended_.empty() ? fmt::format("The upstream server gave no whole answer: {}.", why)
                     : reason("The upstream server gave no whole answer: it");
  const ApiError error{.status = 503, .message = message};
  if (!active.begun) {
    net::Response response =
        active.otherwise ? std::move(*active.otherwise) : error_response(error);
    desk_.decorate(response, active.visit);
    active.visit.status = response.status;
    outlet_->answer(active.exchange, response);
  } else if (active.last_bytes == net::kFrameEnd) {
    outlet_->send(active.exchange, net::data_frame(error_json(error)).append(net::kDoneFrame));
    outlet_->end(active.exchange);
  } else {
    outlet_->abandon(active.exchange);  // In the middle of a frame nothing can be told.
  }
  forget(call, "error");
}

void Relay::forget(net::CallId call, std::string_view ending) {
  const auto found = active_.find(call);
  metrics_.whole.add(static_cast<double>(monotonic_ns() - found->second.visit.accepted_ns) /
                     kNsPerSecond);
  ++metrics_.endings[std::string(ending)];
  desk_.log(found->second.visit, {}, ending);
  calls_.erase(found->second.exchange);
  active_.erase(found);
}

void Relay::on_gone(net::ExchangeId exchange) {
  const auto found = calls_.find(exchange);
  if (found == calls_.end()) return;
  const net::CallId call = found->second;
  caller_->cancel(call);
  forget(call, "gone");
}

void Relay::on_room(net::ExchangeId exchange) {
  const auto found = calls_.find(exchange);
  if (found != calls_.end()) caller_->hold(found->second, false);
}

}  // namespace assay::serve
