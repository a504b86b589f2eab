#include "assay/serve/service.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/serve/utf8.h"

namespace assay::serve {
namespace {

constexpr int kMostReserved = 8192;         // Stamps of an answer.
constexpr std::size_t kTokensAtOnce = 128;  // Sockets wait about half a millisecond for them.

std::string_view ending_of(Finish finish) { return finish == Finish::length ? "length" : "stop"; }

std::int64_t now_s() { return static_cast<std::int64_t>(std::time(nullptr)); }

// A whole answer keeps the logarithms of its tokens until its end: each of them, and of the others
// that were asked for, takes as much memory as several tokens.
std::int64_t held_tokens(const Job& job) {
  constexpr std::int64_t kTokensALogarithm = 4;
  const std::int64_t logarithms = job.whole ? job.alternatives + 1 : 0;
  return job.max_tokens * (1 + kTokensALogarithm * logarithms);
}

double seconds(std::int64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

}  // namespace

// Grown by doubling they would hold twice what a thousand streams need.
Service::Stamps::Stamps(int tokens) {
  const auto most = static_cast<std::size_t>(std::clamp(tokens, 0, kMostReserved));
  due_ns.reserve(most);
  token_ns.reserve(most);
}

Service::Service(ServiceOptions options, std::unique_ptr<Backend> backend)
    : desk_(std::move(options.desk)),
      outstanding_tokens_(options.outstanding_tokens),
      told_stamps_(std::move(options.stamps)),
      backend_(std::move(backend)) {}

void Service::on_request(net::ExchangeId exchange, net::Request request) {
  Visit visit = desk_.receive(request);
  Answer answer = answer_to(request);
  if (answer.frames)
    begin(exchange, std::move(visit), std::move(answer));
  else
    respond(exchange, visit, std::move(answer.response));
}

Answer Service::answer_to(const net::Request& request) {
  const RouteMatch match = find_route(request.method, request.target);
  if (auto refused = desk_.refuse(request, match)) return {std::move(*refused), nullptr, {}};
  if (match.route->answer == nullptr)
    return {
        metrics_response(metrics_.text(desk_.site().model, backend_->current_load())), nullptr, {}};
  const RouteContext context{desk_.site(), *backend_, desk_.new_id(), now_s()};
  return match.route->answer(context, request, match.rest);
}

void Service::respond(net::ExchangeId exchange, Visit& visit, net::Response response) {
  desk_.decorate(response, visit);
  visit.status = response.status;
  outlet_->answer(exchange, response);
  desk_.log(visit, {}, "answered");
}

std::optional<ApiError> Service::full(const Answer& answer, std::int64_t tokens) const {
  const int wanted = static_cast<int>(answer.jobs.size());
  if (wanted > backend_->capabilities().jobs)
    return ApiError{
        .status = 400,
        .message = fmt::format("The request has {} answers; this server runs at most {}.", wanted,
                               backend_->capabilities().jobs),
        .param = "n"};
  if (tokens > outstanding_tokens_)
    return ApiError{
        .status = 400,
        .message = "The request asks for more tokens than this server makes at a time."};
  if (wanted > backend_->room() || outstanding_ + tokens > outstanding_tokens_)
    return ApiError{.status = 429, .message = "The server has as much to do as it takes."};
  return std::nullopt;
}

void Service::begin(net::ExchangeId exchange, Visit visit, Answer answer) {
  std::int64_t tokens = 0;
  for (const Job& job : answer.jobs)
    tokens += held_tokens(job) + static_cast<std::int64_t>(job.prompt.size());
  if (const auto refused = full(answer, tokens))
    return respond(exchange, visit, error_response(*refused));
  Active& active = active_[exchange];
  active.visit = std::move(visit);
  active.head = std::move(answer.response);
  desk_.decorate(active.head, active.visit);
  active.frames = std::move(answer.frames);
  active.tokens = tokens;
  for (const Job& job : answer.jobs)
    if (told_stamps_) active.stamps.emplace_back(job.max_tokens);
  outstanding_ += tokens;
  for (Job& job : answer.jobs) {
    const JobId id = backend_->submit(std::move(job), active.visit.accepted_ns);
    jobs_[id] = {exchange, active.jobs.size(), &active};
    active.jobs.push_back(id);
  }
  schedule();
}

void Service::schedule() {
  if (const auto next = backend_->next_ns()) outlet_->wake_at(*next);
}

// While tokens are late, each trip through the loop of sockets would cost more than a token does.
void Service::on_time() {
  std::size_t delivered = 0;
  do {
    events_.clear();
    const std::int64_t now = monotonic_ns();
    backend_->poll(now, events_);
    for (const Event& event : events_) deliver(event, now);
    delivered += events_.size();
  } while (!events_.empty() && delivered < kTokensAtOnce && is_late());
  schedule();
}

bool Service::is_late() const {
  const auto next = backend_->next_ns();
  return next && *next <= monotonic_ns();
}

void Service::stamp(Active& active, std::size_t choice, const Event& event, std::int64_t now_ns) {
  if (!event.token) return;
  if (told_stamps_) {
    active.stamps[choice].due_ns.push_back(event.due_ns);
    active.stamps[choice].token_ns.push_back(now_ns);
  }
  if (active.first_ns == 0) {
    active.first_ns = now_ns;
    metrics_.first_token.add(seconds(now_ns - active.visit.accepted_ns));
  } else {
    metrics_.between_tokens.add(seconds(now_ns - active.last_ns));
  }
  active.last_ns = now_ns;
}

void Service::deliver(const Event& event, std::int64_t polled_ns) {
  const auto place = jobs_.find(event.job);
  if (place == jobs_.end()) return;
  const auto [exchange, choice, owner] = place->second;
  Active& active = *owner;
  if (event.finish == Finish::error) return fail(exchange, active, event.error);
  if (event.finish == Finish::cut) {
    outlet_->abandon(exchange);
    return forget(exchange, "cut");
  }
  const AnswerFrames::Step step = active.frames->take(choice, event);
  if (event.finish != Finish::none || step.cancel) {
    if (step.cancel) backend_->cancel(event.job, monotonic_ns());
    active.jobs[choice] = 0;
    jobs_.erase(event.job);
    ++metrics_.endings[std::string(ending_of(event.finish))];
  }
  const bool streams = active.frames->streams();
  stamp(active, choice, event, streams ? monotonic_ns() : polled_ns);
  const bool ended = active.frames->ended();
  if (streams)
    write(exchange, active, ended ? step.frames + active.frames->end_frames() : step.frames);
  if (ended) finish(exchange, active);
}

void Service::write(net::ExchangeId exchange, Active& active, std::string_view frames) {
  if (frames.empty()) return;
  if (!std::exchange(active.begun, true)) outlet_->begin(exchange, active.head);
  if (outlet_->send(exchange, frames) || std::exchange(active.held, true)) return;
  for (const JobId job : active.jobs)
    if (job != 0) backend_->hold(job, true);
}

void Service::finish(net::ExchangeId exchange, Active& active) {
  active.visit.status = 200;
  if (active.frames->streams()) {
    outlet_->end(exchange);
  } else {
    active.head.body = active.frames->body();
    outlet_->answer(exchange, active.head);
  }
  forget(exchange, "done");
}

// Before anything was told the status says it; afterwards a frame does.
void Service::fail(net::ExchangeId exchange, Active& active, std::string_view sentence) {
  ++metrics_.endings["error"];
  const ApiError error{.status = 500, .message = std::string(sentence)};
  if (active.begun) {
    active.visit.status = 200;
    outlet_->send(exchange, active.frames->error_frames(error));
    outlet_->end(exchange);
  } else {
    net::Response response = error_response(error);
    desk_.decorate(response, active.visit);
    active.visit.status = response.status;
    outlet_->answer(exchange, response);
  }
  forget(exchange, "error");
}

void Service::drop_jobs(Active& active) {
  for (JobId& job : active.jobs) {
    if (job == 0) continue;
    backend_->cancel(job, monotonic_ns());
    jobs_.erase(std::exchange(job, 0));
  }
}

void Service::forget(net::ExchangeId exchange, std::string_view ending) {
  const auto found = active_.find(exchange);
  Active& active = found->second;
  drop_jobs(active);
  outstanding_ -= active.tokens;
  const std::int64_t now = monotonic_ns();
  const Usage& usage = active.frames->usage();
  metrics_.usage.prompt += usage.prompt;
  metrics_.usage.completion += usage.completion;
  metrics_.whole.add(seconds(now - active.visit.accepted_ns));
  if (told_stamps_) write_stamps(active, ending, now);
  desk_.log(active.visit, usage, ending);
  active_.erase(found);
}

void Service::on_gone(net::ExchangeId exchange) {
  const auto found = active_.find(exchange);
  if (found == active_.end()) return;
  ++metrics_.endings["gone"];
  if (found->second.begun) found->second.visit.status = 200;
  forget(exchange, "gone");
  schedule();
}

void Service::on_room(net::ExchangeId exchange) {
  const auto found = active_.find(exchange);
  if (found == active_.end() || !std::exchange(found->second.held, false)) return;
  for (const JobId job : found->second.jobs)
    if (job != 0) backend_->hold(job, false);
  schedule();
}

net::Response Service::on_refusal(const net::Refusal& refusal) { return desk_.turn_away(refusal); }

void Service::write_stamps(Active& active, std::string_view ending, std::int64_t now_ns) const {
  for (std::size_t choice = 0; choice < active.stamps.size(); ++choice)
    told_stamps_([stamps = std::move(active.stamps[choice]), choice, now_ns,
                  id = active.visit.request_id, accepted_ns = active.visit.accepted_ns,
                  ending = std::string(ending)] {
      return fmt::format(
          R"({{"request_id":{},"choice":{},"accepted_ns":{},"due_ns":[{}],"token_ns":[{}],)"
          R"("ended_ns":{},"ending":"{}"}})",
          json_text(id), choice, accepted_ns, fmt::join(stamps.due_ns, ","),
          fmt::join(stamps.token_ns, ","), now_ns, ending);
    });
}

}  // namespace assay::serve
