#include "assay/notify/courier.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <thread>

#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/net/ask.h"

namespace assay::notify {
namespace {

constexpr double kFirstPause = 0.5;  // Before a second try; twice as long before a third.
constexpr double kUnknownWait = 1;   // Where a rate limit does not say how long.

std::int64_t ns(double seconds) { return static_cast<std::int64_t>(seconds * kNsPerSecond); }

struct Asked {
  Result<net::Answer> answer = net::Answer();
  net::AskTrace trace;
  bool done = false;
  std::mutex mutex;
  std::condition_variable ended;
};

// Looking a host up knows no time limit, so that all of it is done in a thread that is left behind
// when its time is over.
std::shared_ptr<Asked> ask_within(const net::Url& url, const net::ClientOptions& client,
                                  const net::Question& question, int cancel_fd) {
  auto asked = std::make_shared<Asked>();
  std::thread([asked, url, client, question, cancel_fd] {
    net::AskTrace trace;
    auto answer = net::ask(url, client, question, cancel_fd, &trace);
    const std::scoped_lock lock(asked->mutex);
    asked->answer = std::move(answer);
    asked->trace = trace;
    asked->done = true;
    asked->ended.notify_all();
  }).detach();
  std::unique_lock lock(asked->mutex);
  asked->ended.wait_for(lock, std::chrono::duration<double>(question.seconds + 0.5),
                        [&] { return asked->done; });
  return asked;
}

std::optional<double> seconds_in(const std::string* text) {
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end == text->c_str() || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

// The body's is a fraction, and the header's rounded up.
double wait_of(const net::Answer& answer) {
  if (const auto body = parse_json(answer.body, "the answer"); body && body->is_object())
    if (const auto found = body->find("retry_after");
        found != body->end() && found->is_number() && found->get<double>() >= 0)
      return found->get<double>();
  return seconds_in(answer.head.find("retry-after")).value_or(kUnknownWait);
}

}  // namespace

struct Courier::Try {
  Delivery delivery;
  bool again = false;          // Worth another try now.
  std::optional<double> wait;  // Before it, as the service asked.
};

Courier::Courier(Webhook webhook, CourierOptions options)
    : webhook_(std::move(webhook)),
      options_(std::move(options)),
      deadline_ns_(monotonic_ns() + ns(options_.seconds)) {}

double Courier::seconds_left() const {
  return static_cast<double>(deadline_ns_ - monotonic_ns()) / static_cast<double>(kNsPerSecond);
}

bool Courier::wait(double seconds) const {
  if (seconds <= 0) return true;
  if (seconds >= seconds_left()) return false;
  pollfd cancel{options_.cancel_fd, POLLIN, 0};
  const std::int64_t until = monotonic_ns() + ns(seconds);
  for (std::int64_t now = monotonic_ns(); now < until; now = monotonic_ns()) {
    const auto left_ms = static_cast<int>((until - now) / kNsPerMs) + 1;
    if (::poll(&cancel, options_.cancel_fd >= 0 ? 1 : 0, left_ms) > 0) return false;
  }
  return true;
}

Courier::Try Courier::try_once(const std::string& method, const std::string& content_type,
                               const std::string& body) {
  net::Question question;
  question.method = method;
  // Without wait=true Discord does not say whether a message was stored.
  question.path =
      webhook_.path(method == "POST" && webhook_.preset == Preset::discord ? "wait=true" : "");
  question.headers = {{"User-Agent", options_.user_agent}, {"Accept", "application/json"}};
  if (!body.empty()) question.headers.push_back({"Content-Type", content_type});
  question.body = body;
  question.seconds = std::min(options_.try_seconds, seconds_left());
  question.most_bytes = std::size_t{1} << 20;
  net::ClientOptions client;
  client.ca_file = options_.ca_file;
  client.connect_seconds = std::min(options_.connect_seconds, question.seconds);
  const auto asked = ask_within(webhook_.url, client, question, options_.cancel_fd);
  const std::scoped_lock lock(asked->mutex);

  Try one;
  Delivery& delivery = one.delivery;
  delivery.attempted = asked->trace.sent;
  delivery.later = true;
  if (!asked->done || asked->trace.timed_out) {
    delivery.status = "timeout";
    delivery.reason = "no answer came in time";
    one.again = true;
    return one;
  }
  if (!asked->answer) {
    const Error& error = asked->answer.error();
    delivery.status = error.code == ErrorCode::interrupted ? "interrupted" : "network_error";
    delivery.reason = error.message;
    one.again = error.code != ErrorCode::interrupted;
    return one;
  }
  const net::Answer& answer = *asked->answer;
  if (const std::string* left = answer.head.find("x-ratelimit-remaining");
      left != nullptr && *left == "0")
    not_before_ns_ =
        monotonic_ns() + ns(seconds_in(answer.head.find("x-ratelimit-reset-after")).value_or(0));
  const int status = answer.head.status;
  delivery.sent = status >= 200 && status < 300;
  delivery.status = fmt::format("http_{}", status);
  delivery.later = status == 429 || status >= 500;
  one.again = delivery.later;
  if (delivery.sent) {
    delivery.status = "sent";
  } else if (status == 404) {
    delivery.status = "dead_404";
    delivery.reason = "the webhook is gone, and is not used again";
  } else if (status == 429) {
    delivery.status = "rate_limited";
    one.wait = wait_of(answer);
    delivery.reason = fmt::format("the service asked to wait {:.3g} s", *one.wait);
    not_before_ns_ = monotonic_ns() + ns(*one.wait);
  } else if (status >= 300 && status < 400) {
    delivery.reason = "it was sent elsewhere, and redirects are not followed";
  } else {
    delivery.reason = fmt::format("the service answered {}", status);
  }
  return one;
}

Delivery Courier::send(const std::string& method, const std::string& content_type,
                       const std::string& body) {
  Delivery last{false, false, true, "rate_limited", "the service's rate limit leaves no time"};
  bool attempted = false;
  for (int i = 0; i < options_.tries; ++i) {
    const double owed =
        static_cast<double>(not_before_ns_ - monotonic_ns()) / static_cast<double>(kNsPerSecond);
    if (!wait(owed)) break;
    if (seconds_left() <= 0) {
      if (i == 0) last = {false, false, true, "timeout", "no time was left"};
      break;
    }
    Try one = try_once(method, content_type, body);
    attempted = attempted || one.delivery.attempted;
    last = std::move(one.delivery);
    if (last.sent || !one.again) break;
    if (i + 1 < options_.tries && !one.wait && !wait(kFirstPause * (1 << i))) break;
  }
  last.attempted = attempted;
  return last;
}

Delivery Courier::deliver(const Message& message) {
  return send("POST", message.content_type, message.body);
}

Delivery Courier::probe() { return send("GET", "", ""); }

}  // namespace assay::notify
