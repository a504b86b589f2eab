#include "assay/load/ready.h"

#include <algorithm>
#include <poll.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/text.h"
#include "assay/load/request_body.h"
#include "assay/load/schedule.h"
#include "assay/net/ask.h"

namespace assay::load {
namespace {

constexpr double kAskSeconds = 10;
constexpr int kUnavailable = 503;
// Between two looks: a server that is there soon shall not be found late, and one that loads a
// model for minutes shall not be asked all the time.
constexpr std::int64_t kFirstAgainNs = kNsPerSecond / 100;
constexpr std::int64_t kLastAgainNs = kNsPerSecond / 5;

Result<net::Answer> get(const LoadPlan& plan, std::string path, double seconds, int cancel_fd) {
  net::Question question;
  question.path = std::move(path);
  question.headers = common_headers(plan.shape);
  question.seconds = seconds;
  return net::ask(plan.server, {plan.ca_file, seconds}, question, cancel_fd);
}

bool is_good(const net::Answer& answer) {
  return answer.head.status >= 200 && answer.head.status < 300;
}

// When the check is over. Without a limit a server is looked at once, and may take its time.
class Limit {
 public:
  explicit Limit(double seconds)
      : deadline_ns_(seconds > 0 ? monotonic_ns() + to_ns(seconds) : kNever), once_(seconds <= 0) {}

  bool over() const { return once_ || monotonic_ns() >= deadline_ns_; }
  std::int64_t first_of(std::int64_t at_ns) const { return std::min(at_ns, deadline_ns_); }
  // What a question may take. Not above 0: it is not asked any more.
  double ask_seconds() const {
    if (deadline_ns_ == kNever) return kAskSeconds;
    return std::min(kAskSeconds, static_cast<double>(deadline_ns_ - monotonic_ns()) / kNsPerSecond);
  }

 private:
  std::int64_t deadline_ns_;
  bool once_;
};

// Why it is not ready; empty: it is.
Result<std::string> look(const LoadPlan& plan, const Limit& limit, int cancel_fd) {
  std::string why = "the time to get ready is over";
  for (const std::string& path :
       {plan.server.path + "/health", endpoint_path(plan.server, "/models")}) {
    const double seconds = limit.ask_seconds();
    if (seconds <= 0) break;
    const auto answer = get(plan, path, seconds, cancel_fd);
    if (answer && is_good(*answer)) return std::string();
    if (!answer && answer.error().code != ErrorCode::failed) return fail(answer.error());
    why = answer ? fmt::format("{} is answered with {}", path, answer->head.status)
                 : answer.error().message;
    // A server that says that it is not ready yet may list its models all the same.
    if (!answer || answer->head.status == kUnavailable) break;
  }
  return why;
}

}  // namespace

Status await_ready(const LoadPlan& plan, double seconds, int cancel_fd,
                   const MayGetReady& may_get_ready) {
  const Limit limit(seconds);
  for (std::int64_t again = kFirstAgainNs;; again = std::min(2 * again, kLastAgainNs)) {
    ASSAY_TRY(const std::string why, look(plan, limit, cancel_fd));
    if (why.empty()) return {};
    if (may_get_ready) ASSAY_TRY(may_get_ready());
    const std::int64_t then = limit.first_of(monotonic_ns() + again);
    if (cancel_fd < 0) {
      const std::int64_t left_ns = std::max<std::int64_t>(0, then - monotonic_ns());
      static_cast<void>(::poll(nullptr, 0, static_cast<int>(left_ns / kNsPerMs) + 1));
    } else {
      ASSAY_TRY(const bool cancelled, wait_for_fd(cancel_fd, POLLIN, then));
      if (cancelled) return fail(ErrorCode::interrupted, "interrupted");
    }
    if (limit.over())
      return fail(ErrorCode::unsupported, "the server at {} is not ready: {}",
                  plan.server.authority(), why);
  }
}

Result<std::string> only_model(const LoadPlan& plan, int cancel_fd) {
  const std::string path = endpoint_path(plan.server, "/models");
  ASSAY_TRY(const net::Answer answer, get(plan, path, kAskSeconds, cancel_fd));
  if (!is_good(answer))
    return fail(ErrorCode::unsupported, "{} is answered with {}: name the model with --model", path,
                answer.head.status);
  ASSAY_TRY(const JsonDocument document, parse_json_document(answer.body, path));
  ASSAY_TRY(const JsonField data, JsonField(document).at("data"));
  ASSAY_TRY(const std::vector<JsonField> items, data.items());
  std::vector<std::string> names;
  for (const JsonField& item : items) {
    ASSAY_TRY(const JsonField id, item.at("id"));
    ASSAY_TRY(const std::string name, id.as_string());
    names.push_back(name);
  }
  if (names.size() == 1) return names.front();
  return fail(ErrorCode::invalid_input, "the server has {} models: name one with --model{}{}",
              names.size(), names.empty() ? "" : ": ", sanitize(join(names, ", "), 300));
}

Result<std::vector<std::int64_t>> server_token_ids(const LoadPlan& plan, const std::string& text,
                                                   int cancel_fd) {
  net::Question question;
  question.method = "POST";
  question.path = plan.server.path + "/tokenize";
  // It stands beside /v1, not below it.
  if (plan.server.path.ends_with("/v1"))
    question.path = plan.server.path.substr(0, plan.server.path.size() - 3) + "/tokenize";
  question.headers = common_headers(plan.shape);
  question.headers.push_back({"Content-Type", "application/json"});
  question.body = canonical({{"model", plan.shape.model},
                             {"prompt", text},
                             {"content", text},  // As llama.cpp calls it.
                             {"add_special_tokens", false}});
  ASSAY_TRY(const net::Answer answer,
            net::ask(plan.server, {plan.ca_file, kAskSeconds}, question, cancel_fd));
  if (!is_good(answer))
    return fail(ErrorCode::unsupported, "/tokenize is answered with {}", answer.head.status);
  ASSAY_TRY(const JsonDocument document, parse_json_document(answer.body, "/tokenize"));
  ASSAY_TRY(const JsonField tokens, JsonField(document).at("tokens"));
  ASSAY_TRY(const std::vector<JsonField> items, tokens.items());
  std::vector<std::int64_t> ids;
  for (const JsonField& item : items) {
    ASSAY_TRY(ids.emplace_back(), item.as_int64());
  }
  return ids;
}

TokenCount server_tokenizer(const LoadPlan& plan, int cancel_fd) {
  return [plan, cancel_fd](const std::string& text) -> Result<std::int64_t> {
    ASSAY_TRY(const auto ids, server_token_ids(plan, text, cancel_fd));
    return static_cast<std::int64_t>(ids.size());
  };
}

}  // namespace assay::load
