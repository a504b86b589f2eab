#include "assay/serve/mock_backend.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "assay/base/clock.h"

namespace assay::serve {
namespace {

// Streams of one key: text, times and faults must not be the same numbers.
constexpr std::uint64_t kText = 1, kTimes = 2, kFaults = 3;

constexpr int kMostAtOnce = 64;  // Tokens that are due of one answer that is told whole.

// One of a normal distribution (Box and Muller 1958); the pair's other half is left.
double normal(const CounterRandom& random, std::uint64_t index) {
  const double u = 1 - random.uniform_unit(2 * index);
  return std::sqrt(-2 * std::log(u)) *
         std::cos(2 * std::numbers::pi * random.uniform_unit(2 * index + 1));
}

// The same prompt, seed and choice give the same text; so does temperature 0, whatever the seed.
std::uint64_t key_of(const Job& job, std::uint64_t server_seed, JobId id) {
  std::vector<std::int64_t> parts(job.prompt.begin(), job.prompt.end());
  const bool greedy = job.sampling.temperature == 0;
  if (greedy)
    parts.push_back(-1);
  else if (job.sampling.seed)
    parts.insert(parts.end(), {-2, *job.sampling.seed, job.choice});
  else
    parts.insert(parts.end(), {-3, static_cast<std::int64_t>(id)});
  parts.push_back(static_cast<std::int64_t>(server_seed));
  return seed_from(std::as_bytes(std::span(parts)));
}

}  // namespace

Capabilities MockBackend::capabilities() const {
  return {"mock", options_.context, options_.slots + options_.queue};
}

Load MockBackend::current_load() const {
  return {running_, static_cast<int>(jobs_.size()) - running_};
}

int MockBackend::room() const {
  return options_.slots + options_.queue - static_cast<int>(jobs_.size());
}

void MockBackend::draw_fault(Running& running, const CounterRandom& random) const {
  const double draw = random.uniform_unit(0);
  const double error = options_.error_rate, stall = error + options_.stall_rate;
  const double cut = stall + options_.disconnect_rate;
  running.fault = draw < error   ? Fault::error
                  : draw < stall ? Fault::stall
                  : draw < cut   ? Fault::cut
                                 : Fault::none;
  running.fault_at = static_cast<int>(random.below(1, static_cast<std::uint64_t>(running.tokens)));
  running.miscounted = random.uniform_unit(2) < options_.miscount_rate ? 1 : 0;
}

MockBackend::Running MockBackend::plan(const Job& job) {
  Running running;
  running.id = ++last_;
  const std::uint64_t key = key_of(job, options_.seed, running.id);
  running.text = MockText(key, kText, vocabulary_->words());
  // Text repeats where it was asked to; faults and times are the run's own.
  running.times = {options_.seed ^ running.id, kTimes};
  const CounterRandom faults{options_.seed ^ running.id, kFaults};
  running.alternatives = job.alternatives;
  running.whole = job.whole;
  const CounterRandom length{key, kTimes};
  double natural = options_.output_tokens;
  if (options_.output_tokens_std > 0) natural += options_.output_tokens_std * normal(length, 0);
  const int ends = std::max({1, job.min_tokens, static_cast<int>(std::lround(natural))});
  const bool by_length = job.ignore_eos || ends >= job.max_tokens;
  running.tokens = by_length ? job.max_tokens : ends;
  running.finish = by_length ? Finish::length : Finish::stop;
  draw_fault(running, faults);
  return running;
}

JobId MockBackend::submit(Job job, std::int64_t now_ns) {
  Running planned = plan(job);
  const JobId id = planned.id;
  Running& running = jobs_.emplace(id, std::move(planned)).first->second;
  if (running_ < options_.slots)
    start(running, now_ns);
  else
    waiting_.push_back(id);
  return id;
}

std::int64_t MockBackend::delay_ns(const Running& running, double mean_ms, double std_ms) const {
  double ms = mean_ms;
  if (std_ms > 0) ms += std_ms * normal(running.times, static_cast<std::uint64_t>(running.made));
  return static_cast<std::int64_t>(std::max(0.0, ms) * kNsPerMs);
}

void MockBackend::start(Running& running, std::int64_t now_ns) {
  ++running_;
  running.started = true;
  running.due_ns = now_ns + delay_ns(running, options_.ttft_ms, options_.ttft_std_ms);
  due_.push({running.due_ns, running.id});
}

void MockBackend::start_waiting(std::int64_t now_ns) {
  while (running_ < options_.slots && !waiting_.empty()) {
    const auto found = jobs_.find(waiting_.front());
    waiting_.pop_front();
    if (found != jobs_.end()) start(found->second, now_ns);
  }
}

void MockBackend::remove(JobId job, std::int64_t now_ns) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  running_ -= found->second.started ? 1 : 0;
  jobs_.erase(found);
  start_waiting(now_ns);
}

void MockBackend::cancel(JobId job, std::int64_t now_ns) { remove(job, now_ns); }

void MockBackend::hold(JobId job, bool held) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  found->second.held = held;
  if (!held && std::exchange(found->second.waits, false)) due_.push({found->second.due_ns, job});
}

void MockBackend::give_token(Running& running, Event& event) {
  const int left = running.tokens - running.made;
  const int token = running.text.next(left);
  double logprob = 0;  // Drawn only for those who ask: it costs as much as the token.
  if (running.alternatives >= 0)
    logprob = -running.times.uniform_unit(1'000'000 + static_cast<std::uint64_t>(running.made));
  event.token = Candidate{token, *vocabulary_->bytes_of(token), logprob};
  for (int i = 0; i < running.alternatives; ++i) {
    const int other = i == 0 ? token : running.text.other_word();
    event.candidates.push_back({other, *vocabulary_->bytes_of(other), logprob - i});
  }
  ++running.made;
}

Event MockBackend::make_event(Running& running) {
  Event event;
  event.job = running.id;
  event.due_ns = running.due_ns;
  const bool faulty = running.fault != Fault::none && running.made == running.fault_at;
  if (faulty && running.fault == Fault::error) {
    event.finish = Finish::error;
    event.error = "The mock was told to fail (--mock-error-rate).";
  } else if (faulty && running.fault == Fault::cut) {
    event.finish = Finish::cut;
  } else {
    give_token(running, event);
    if (running.made == running.tokens) {
      event.finish = running.finish;
      event.miscounted = running.miscounted;
    }
  }
  return event;
}

// Whether more follows. A stream gets one token before the others have theirs.
bool MockBackend::make_due(Running& running, std::int64_t now_ns, std::vector<Event>& events) {
  const int most = running.whole ? kMostAtOnce : 1;
  for (int made = 0; made < most && running.due_ns <= now_ns; ++made) {
    if (running.fault == Fault::stall && running.made == running.fault_at) return false;
    events.push_back(make_event(running));
    if (events.back().finish != Finish::none) {
      remove(running.id, now_ns);
      return false;
    }
    running.due_ns += delay_ns(running, options_.itl_ms, options_.itl_std_ms);
  }
  return true;
}

void MockBackend::poll(std::int64_t now_ns, std::vector<Event>& events) {
  later_.clear();
  while (!due_.empty() && due_.top().at_ns <= now_ns) {
    const Due due = due_.top();
    due_.pop();
    const auto found = jobs_.find(due.job);
    if (found == jobs_.end()) continue;  // Cancelled.
    Running& running = found->second;
    if (running.held) {
      running.waits = true;
      continue;
    }
    if (make_due(running, now_ns, events)) later_.push_back({running.due_ns, due.job});
  }
  for (const Due& due : later_) due_.push(due);
}

std::optional<std::int64_t> MockBackend::next_ns() const {
  return due_.empty() ? std::nullopt : std::optional(due_.top().at_ns);
}

}  // namespace assay::serve
