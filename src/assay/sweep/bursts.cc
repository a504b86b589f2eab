#include "assay/sweep/bursts.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {
constexpr double kOpenSeconds = 120;
// The worker's total may exceed the parent's bracket by the resolution of two clock readings alone:
// both read CLOCK_MONOTONIC.
constexpr double kBracketSlackNs = 1000;
}  // namespace

bool Bursts::is_open(size_t candidate) const { return handles_.count(candidate) != 0; }

Status Bursts::open(const Instances& instances, std::vector<size_t> candidates, WorkerSource source, uint64_t seed) {
  instances_ = &instances;
  source_ = std::move(source);
  seed_ = seed;
  handles_.clear();
  return load_and_open(candidates);
}

Status Bursts::load_and_open(const std::vector<size_t>& candidates) {
  // Each death ends one candidate, so this ends too.
  for (;;) {
    handles_.clear();
    ASSAY_TRY(worker_, source_());
    ASSAY_TRY(const Message timer, ask(*worker_, {{"do", "timer"}}, kOpenSeconds, "reading the clock"));
    timer_ = {number_or(timer.json, "tick_ns", 1), number_or(timer.json, "read_ns", 30),
              number_or(timer.json, "empty_burst_ns", 60)};
    ASSAY_TRY(instances_->load_into(*worker_, seed_));
    ASSAY_TRY(const Message rotated,
              ask(*worker_, {{"do", "rotate"}, {"condition", measure::to_json(station_.condition)}}, kOpenSeconds, "placing operands"));
    ASSAY_TRY(const int64_t sets, integer(rotated.json, "sets"));
    sets_ = static_cast<int>(sets);
    for (const size_t candidate : candidates)
      if (field_.candidates[candidate].alive() && worker_->alive()) ASSAY_TRY(open_one(candidate));
    if (worker_->alive()) return {};
  }
}

Status Bursts::open_one(size_t index) {
  Candidate& candidate = field_.candidates[index];
  Json message = station_.message("open");
  message["row"] = candidate.row;
  message["artifact"] = candidate.artifact;
  auto answer = worker_->call(message, kOpenSeconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    candidate.outcome.ending = ending_of(answer.error(), "bind");
    return {};
  }
  ASSAY_TRY(const int64_t handle, integer(answer->json, "handle"));
  handles_[index] = static_cast<int>(handle);
  candidate.outcome.workspace_bytes = static_cast<uint64_t>(number_or(answer->json, "workspace_bytes", 0));
  candidate.outcome.prepared_bytes = static_cast<uint64_t>(number_or(answer->json, "prepared_bytes", 0));
  candidate.outcome.prepare_seconds = number_or(answer->json, "prepare_seconds", 0);
  return {};
}

Result<Bursts::Round> Bursts::round(const std::vector<size_t>& who, const std::string& stage) {
  std::vector<size_t> order;
  for (const size_t candidate : who)
    if (is_open(candidate)) order.push_back(candidate);
  std::shuffle(order.begin(), order.end(), random_);

  Round round;
  Json bursts = Json::array();
  double expected_ns = 0;
  for (const size_t index : order) {
    const Candidate& candidate = field_.candidates[index];
    bursts.push_back({handles_.at(index), candidate.launches});
    expected_ns += candidate.launch_ns * candidate.launches;
  }
  // A hang is told from slowness by far: 50 times what the bursts should take, besides the limit.
  const double limit = station_.request.trial_timeout_seconds + 50e-9 * expected_ns;
  const int64_t start = monotonic_ns();
  auto answer = worker_->call({{"do", "round"}, {"bursts", bursts}, {"seed", static_cast<int64_t>(random_() >> 1)}}, limit);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  wall_ns_ += bracket;
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (worker_->alive()) return fail(as_error(answer.error(), "timing a round"));
    // Who was it? Each alone in a new process; whoever dies again is it.
    std::vector<size_t> rest;
    for (const auto& [candidate, handle] : handles_) rest.push_back(candidate);
    const Ending ending = ending_of(answer.error(), stage);
    ASSAY_TRY(load_and_open(rest));
    bool found = false;
    for (const size_t index : order) {
      if (!is_open(index) || found) continue;
      auto again = worker_->call({{"do", "round"}, {"bursts", Json::array({{handles_.at(index), field_.candidates[index].launches}})},
                                  {"seed", 1}},
                                 station_.request.trial_timeout_seconds);
      if (again) continue;
      if (is_interruption(again.error())) return fail(std::get<Error>(again.error()));
      field_.candidates[index].outcome.ending = ending_of(again.error(), stage);
      found = true;
      ASSAY_TRY(load_and_open(rest));
    }
    if (!found && order.size() == 1) {
      field_.candidates[order.front()].outcome.ending = ending;
      handles_.erase(order.front());
    }
    return round;
  }
  if (answer->json.contains("failed")) {
    const auto failed = static_cast<int>(number_or(answer->json["failed"], "handle", -1));
    for (const size_t index : order) {
      if (handles_.at(index) != failed) continue;
      field_.candidates[index].outcome.ending =
          ending::Mismatch{"a launch failed while it was timed: " + answer->json["failed"].value("message", std::string())};
      handles_.erase(index);
      break;
    }
    return round;
  }
  ASSAY_TRY(const Json* samples, member(answer->json, "bursts"));
  if (!samples->is_array() || samples->size() != order.size())
    return fail(ErrorCode::internal, "a worker answered {} bursts with {}", order.size(), samples->size());
  double total = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Json& sample = (*samples)[i];
    if (!sample.is_array() || sample.size() != 4 || !sample[0].is_number_integer() || !sample[3].is_number_integer() ||
        sample[0].get<int64_t>() <= 0 || sample[3].get<int64_t>() <= 0)
      return fail(ErrorCode::internal, "a worker sent what is no sample");
    Sample taken{order[i], sample[0].get<int64_t>(), sample[1] == 1, sample[3].get<int>()};
    total += static_cast<double>(taken.ns);
    round.samples.push_back(taken);
  }
  timed_ns_ += total;
  // The timer lives in the candidate's process: what it says must fit into what we saw ourselves.
  if (total > bracket + kBracketSlackNs) {
    for (const size_t index : order)
      if (order.size() == 1)
        field_.candidates[index].outcome.ending = ending::Violation{"clock", "its times exceed the time that passed outside"};
    return round;
  }
  round.complete = true;
  return round;
}

Status Bursts::judge_timed_output(const Instances& instances, size_t index) {
  if (!is_open(index)) return {};
  auto answer = worker_->call({{"do", "collect"}, {"handle", handles_.at(index)}, {"back", static_cast<int>(random_() % 2)}},
                              station_.request.trial_timeout_seconds);
  Candidate& candidate = field_.candidates[index];
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    const auto* error = std::get_if<Error>(&answer.error());
    if (error != nullptr && error->code == ErrorCode::not_found) return {};
    candidate.outcome.ending = ending_of(answer.error(), "collect");
    handles_.erase(index);
    return {};
  }
  if (const std::string trespass = answer->json.value("trespass", std::string()); !trespass.empty())
    candidate.outcome.ending = ending::Violation{"writes_outside", "while it was timed: " + trespass};
  const Json variation = answer->json.value("variation", Json(0));
  if (answer->fds.size() != 1 || !variation.is_number())
    return fail(ErrorCode::internal, "a worker collected no output");
  ASSAY_TRY(const Check check, instances.check(0, answer->fds.front().get(), variation.get<uint64_t>()));
  if (candidate.outcome.proof) candidate.outcome.proof->launches += 1;
  if (!check.right)
    candidate.outcome.ending = ending::Mismatch{"an output of a timed launch is wrong: " + check.first_wrong};
  if (!candidate.alive()) handles_.erase(index);
  return {};
}

Status Bursts::close(const std::vector<size_t>& who) {
  Json handles = Json::array();
  for (const size_t candidate : who)
    if (is_open(candidate)) {
      handles.push_back(handles_.at(candidate));
      handles_.erase(candidate);
    }
  if (handles.empty()) return {};
  return ask(*worker_, {{"do", "close"}, {"handles", handles}}, kOpenSeconds, "closing kernels").map([](const Message&) {});
}

Status Bursts::unload() {
  handles_.clear();
  if (worker_ == nullptr || !worker_->alive()) return {};
  return ask(*worker_, {{"do", "unload"}}, kOpenSeconds, "unloading operands").map([](const Message&) {});
}

}  // namespace assay::sweep
