#include "assay/sweep/bursts.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/stats/robust.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {
constexpr double kOpenSeconds = 120;
// The worker's total may exceed the parent's bracket by the resolution of two clock readings alone:
// both read CLOCK_MONOTONIC.
constexpr double kBracketSlackNs = 1000;
constexpr size_t kNowhere = static_cast<size_t>(-1);
// Of the bursts, that outputs are copied of when the clock stops. Copying costs the clock nothing;
// what is in the caches afterwards may be other lines, so most bursts go without.
constexpr double kLookedAt = 0.25;

Ending late_work(const std::string& what) { return ending::Violation{"background_work", what}; }

}  // namespace

bool Bursts::is_open(size_t candidate) const { return handles_.count(candidate) != 0; }

Status Bursts::open(const Instances& instances, std::vector<size_t> candidates, WorkerSource source,
                    uint64_t seed) {
  instances_ = &instances;
  source_ = std::move(source);
  seed_ = seed;
  rounds_ = 0;
  bare_ns_.clear();
  handles_.clear();
  return load_and_open(candidates);
}

Status Bursts::load() {
  ASSAY_TRY(worker_, source_());
  ASSAY_TRY(const Message timer,
            ask(*worker_, {{"do", "timer"}}, kOpenSeconds, "reading the clock"));
  timer_ = {number_or(timer.json, "tick_ns", 1), number_or(timer.json, "read_ns", 30),
            number_or(timer.json, "empty_burst_ns", 60)};
  ASSAY_TRY(instances_->load_into(*worker_, seed_));
  ASSAY_TRY(const Message rotated, ask(*worker_,
                                       {{"do", "rotate"},
                                        {"condition", measure::to_json(station_.condition)},
                                        {"key", instances_->sets_key()}},
                                       kOpenSeconds, "placing operands"));
  ASSAY_TRY(const int64_t sets, integer(rotated.json, "sets"));
  sets_ = static_cast<int>(sets);
  ASSAY_TRY(cold_doubt_, text(rotated.json, "cold_doubt"));
  return {};
}

Status Bursts::load_and_open(const std::vector<size_t>& candidates) {
  // Each death while opening ends one candidate, so this ends too.
  for (int deaths = 0;;) {
    handles_.clear();
    if (Status loaded = load(); !loaded) {
      // What ran in an old worker may have killed it after its answers; a new one has run nothing.
      if (loaded.error().code == ErrorCode::interrupted || worker_ == nullptr || worker_->alive() ||
          ++deaths > 1)
        return loaded;
      continue;
    }
    // Who opens first gets other memory than who opens last.
    std::vector<size_t> order = candidates;
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t candidate : order)
      if (field_.candidates[candidate].alive() && worker_->alive()) ASSAY_TRY(open_one(candidate));
    if (worker_->alive()) return {};
  }
}

Status Bursts::open_one(size_t index) {
  Candidate& candidate = field_.candidates[index];
  Json message = station_.message("open");
  message["row"] = candidate.row();
  message["artifact"] = candidate.artifact();
  auto answer = worker_->call(message, kOpenSeconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    candidate.outcome.ending = ending_of(answer.error(), "bind");
    return {};
  }
  if (const auto left = answer->json.find("left_processes");
      left != answer->json.end() && *left == true) {
    candidate.outcome.ending = left_processes();
    worker_->dismiss("a process was left behind there");
    return {};
  }
  if (const auto armed = text(answer->json, "armed"); armed && !armed->empty()) {
    candidate.outcome.ending = late_work(*armed);
    worker_->dismiss("something was armed there");
    return {};
  }
  ASSAY_TRY(const int64_t handle, integer(answer->json, "handle"));
  tainted_ = tainted_ || station_.taints_process(candidate);
  handles_[index] = static_cast<int>(handle);
  candidate.outcome.workspace_bytes =
      static_cast<uint64_t>(number_or(answer->json, "workspace_bytes", 0));
  candidate.outcome.prepared_bytes =
      static_cast<uint64_t>(number_or(answer->json, "prepared_bytes", 0));
  candidate.outcome.prepare_seconds = number_or(answer->json, "prepare_seconds", 0);
  ASSAY_TRY(const Json* launches, member(answer->json, "launches"));
  candidate.outcome.launches.clear();
  for (const Json& launch : *launches) {
    JsonDocument document;
    document.root = launch;
    document.origin = "a launch";
    ASSAY_TRY(candidate.outcome.launches.emplace_back(), read_card_launch(JsonField(document)));
  }
  return {};
}

double Bursts::launch_ns(const Sample& sample) const {
  constexpr double kLeastShare = 0.01;  // A link that hides its kernel leaves nothing to compare.
  const double link = static_cast<double>(sample.ns) / sample.launches;
  return bare_ns_.empty() ? link : std::max(link - stats::median(bare_ns_), kLeastShare * link);
}

Result<Bursts::Round> Bursts::round(const std::vector<size_t>& who, const std::string& stage) {
  std::vector<size_t> order;
  for (const size_t candidate : who)
    if (is_open(candidate)) order.push_back(candidate);
  std::shuffle(order.begin(), order.end(), random_);
  ++rounds_;
  const auto seed = static_cast<int64_t>(random_() >> 1);
  Round round;
  round.complete = true;
  if (!one_by_one_) {
    ASSAY_TRY(call_bursts(order, seed, stage, round));
    return round;
  }
  for (const size_t candidate : order) {
    if (round.complete) ASSAY_TRY(call_bursts({candidate}, seed, stage, round));
  }
  return round;
}

// Adds the bursts of `order`, made in one call, or makes the round incomplete.
Status Bursts::call_bursts(const std::vector<size_t>& order, int64_t seed, const std::string& stage,
                           Round& round) {
  // Bare links stand anywhere in the round.
  const bool chained = station_.condition.spacing == measure::Spacing::chain;
  const size_t bare_at = chained ? static_cast<size_t>(random_() % (order.size() + 1)) : kNowhere;
  Json bursts = Json::array();
  double expected_ns = 0;
  for (const size_t index : order) {
    const Candidate& candidate = field_.candidates[index];
    const int looked_at = std::bernoulli_distribution(kLookedAt)(random_) ? 1 : 0;
    bursts.push_back({handles_.at(index), candidate.launches, looked_at});
    expected_ns += candidate.launch_ns * candidate.launches;
  }
  if (chained)
    bursts.insert(bursts.begin() + static_cast<std::ptrdiff_t>(bare_at),
                  Json({kBareLinks, std::max(1, sets_ / 2), 0}));
  // A hang is told from slowness by far: 50 times what the bursts should take, besides the limit.
  const double limit = station_.request.trial_timeout_seconds + 50e-9 * expected_ns;
  const int64_t start = monotonic_ns();
  auto answer = worker_->call({{"do", "round"}, {"bursts", bursts}, {"seed", seed}}, limit);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  wall_ns_ += bracket;
  if (!answer) {
    round.complete = false;
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (worker_->alive()) return fail(as_error(answer.error(), "timing a round"));
    return recover(order, ending_of(answer.error(), stage));
  }
  const Json& json = answer->json;
  if (const auto failed = json.find("failed"); failed != json.end()) {
    round.complete = false;
    const auto handle = static_cast<int>(number_or(*failed, "handle", -1));
    const auto message = text(*failed, "message");
    for (const size_t index : order) {
      if (handles_.at(index) != handle) continue;
      field_.candidates[index].outcome.ending = ending::Mismatch{
          "a launch failed while it was timed: " + (message ? *message : std::string())};
      handles_.erase(index);
      return {};
    }
    return recover(order, ending_of(worker_->dismiss("a failure of nobody"), stage));
  }
  if (const auto left = json.find("left_processes"); left != json.end()) {
    round.complete = false;
    worker_->dismiss("a process was left behind there");
    for (const size_t index : order)
      if (left->is_number_integer() && handles_.at(index) == left->get<int64_t>())
        return recover({index}, left_processes());
    return recover(order, left_processes());
  }
  if (const auto late = json.find("late"); late != json.end()) {
    round.complete = false;
    worker_->dismiss("work went on there after the clock had stopped");
    const auto handle = static_cast<int>(number_or(*late, "handle", -1));
    const auto work = text(*late, "work");
    const Ending ending = late_work(work ? *work : std::string());
    for (const auto& [index, open] : handles_)
      if (open == handle) return recover({index}, ending);
    return recover(order, ending);
  }
  if (const auto armed = text(json, "armed"); armed && !armed->empty()) {
    round.complete = false;
    worker_->dismiss("something was armed there");
    return recover(order, late_work(*armed));
  }
  const auto samples = json.find("bursts");
  bool well_formed =
      samples != json.end() && samples->is_array() && samples->size() == bursts.size();
  for (size_t i = 0; well_formed && i < bursts.size(); ++i) {
    const Json& sample = (*samples)[i];
    well_formed = sample.is_array() && sample.size() == 4 && sample[0].is_number_integer() &&
                  sample[3].is_number_integer() && sample[0].get<int64_t>() > 0 &&
                  sample[3].get<int64_t>() > 0;
  }
  if (!well_formed) {
    round.complete = false;
    return recover(order, ending_of(worker_->dismiss("what are no samples"), stage));
  }
  double total = 0;
  std::vector<Sample> taken;
  std::optional<Sample> bare;
  for (size_t i = 0; i < bursts.size(); ++i) {
    const Json& json_sample = (*samples)[i];
    const Sample sample{kNowhere, json_sample[0].get<int64_t>(), json_sample[1] == 1,
                        json_sample[3].get<int>()};
    total += static_cast<double>(sample.ns);
    if (i == bare_at) {
      bare = sample;
      continue;
    }
    taken.push_back(sample);
    taken.back().candidate = order[i - (i > bare_at ? 1 : 0)];
  }
  timed_ns_ += total;
  bursts_ += static_cast<int>(order.size());
  // The timer lives in the candidate's process: what it says must fit into what we saw ourselves.
  if (total > bracket + kBracketSlackNs) {
    round.complete = false;
    worker_->dismiss("impossible times");
    return recover(order,
                   ending::Violation{"clock", "its times exceed the time that passed outside"});
  }
  if (bare && bare->clean) bare_ns_.push_back(static_cast<double>(bare->ns) / bare->launches);
  if (bare) round.bare = bare;
  round.samples.insert(round.samples.end(), taken.begin(), taken.end());
  return {};
}

// The worker is gone. If it ran one candidate, that one ends; of several, who it was shows when
// each burst is a call of its own.
Status Bursts::recover(const std::vector<size_t>& order, const Ending& ending) {
  if (order.size() == 1)
    field_.candidates[order.front()].outcome.ending = ending;
  else
    one_by_one_ = true;
  std::vector<size_t> rest;
  for (const auto& [candidate, handle] : handles_)
    if (field_.candidates[candidate].alive()) rest.push_back(candidate);
  return load_and_open(rest);
}

Result<std::optional<Bursts::Sample>> Bursts::block(size_t index, double seconds) {
  if (!is_open(index)) return std::optional<Sample>();
  const int64_t start = monotonic_ns();
  const auto answer =
      worker_->call({{"do", "block"}, {"handle", handles_.at(index)}, {"seconds", seconds}},
                    station_.request.trial_timeout_seconds + 2 * seconds);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  wall_ns_ += bracket;
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    worker_->dismiss("a launch failed there");
    ASSAY_TRY(recover({index}, ending_of(answer.error(), "own clock")));
    return std::optional<Sample>();
  }
  const auto ns = integer(answer->json, "ns"), launches = integer(answer->json, "launches");
  constexpr int64_t kMostLaunches = 1 << 30;
  if (!ns || !launches || *ns <= 0 || *launches <= 0 || *launches > kMostLaunches ||
      static_cast<double>(*ns) > bracket + kBracketSlackNs) {
    ASSAY_TRY(recover({index}, ending_of(worker_->dismiss("a block that is none"), "own clock")));
    return std::optional<Sample>();
  }
  timed_ns_ += static_cast<double>(*ns);
  return std::optional(Sample{index, *ns, true, static_cast<int>(*launches)});
}

Result<std::optional<EventCounts>> Bursts::count(size_t index, int launches) {
  if (!is_open(index)) return std::optional<EventCounts>();
  const double expected_ns = field_.candidates[index].launch_ns * launches;
  const double limit = station_.request.trial_timeout_seconds + 50e-9 * expected_ns;
  const auto answer = worker_->call({{"do", "count"},
                                     {"handle", handles_.at(index)},
                                     {"launches", launches},
                                     {"seed", static_cast<int64_t>(random_() >> 1)}},
                                    limit);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (!worker_->alive()) {
      // The others are counted in a new one.
      std::vector<size_t> rest;
      for (const auto& [candidate, handle] : handles_)
        if (candidate != index) rest.push_back(candidate);
      ASSAY_TRY(load_and_open(rest));
    }
    return std::optional<EventCounts>();
  }
  // The answer comes from a process that ran candidates: numbers beyond any count are none.
  constexpr double kMostLaunches = 1e6, kMost = 1e18;
  EventCounts counts;
  counts.launches =
      static_cast<int>(std::clamp(number_or(answer->json, "launches", 0), 0.0, kMostLaunches));
  counts.clock_hz = std::clamp(number_or(answer->json, "clock_hz", 0), 0.0, kMost);
  const auto events = answer->json.find("events");
  if (counts.launches < 1 || events == answer->json.end() || !events->is_array())
    return std::optional<EventCounts>();
  for (const Json& event : *events) {
    const auto name = text(event, "event"), unavailable = text(event, "unavailable");
    if (!name || !unavailable) return std::optional<EventCounts>();
    if (unavailable->empty())
      counts.per_launch[*name] =
          std::clamp(number_or(event, "count", 0), 0.0, kMost) / counts.launches;
    else
      counts.unavailable[*name] = *unavailable;
  }
  return std::optional(std::move(counts));
}

Status Bursts::judge_timed_output(const Instances& instances, size_t index) {
  return judge(instances, index, true);
}

Status Bursts::judge_some(const Instances& instances, const std::vector<size_t>& who,
                          double chance) {
  for (const size_t index : who)
    if (field_.candidates[index].alive() && std::bernoulli_distribution(chance)(random_))
      ASSAY_TRY(judge_timed_output(instances, index));
  return {};
}

Status Bursts::judge(const Instances& instances, size_t index, bool launch_again) {
  if (!is_open(index)) return {};
  auto answer = worker_->call({{"do", "collect"},
                               {"handle", handles_.at(index)},
                               {"choice", static_cast<int64_t>(random_() >> 1)},
                               {"share", station_.crew.referee_sees_card()}},
                              station_.request.trial_timeout_seconds);
  Candidate& candidate = field_.candidates[index];
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    const auto* error = std::get_if<Error>(&answer.error());
    if (error != nullptr && error->code == ErrorCode::not_found) {
      // It was timed in a worker that is gone, and its outputs with it: once more, here.
      if (!launch_again) return {};
      Round round;
      ASSAY_TRY(call_bursts({index}, static_cast<int64_t>(random_() >> 1), "race", round));
      return judge(instances, index, false);
    }
    if (!worker_->alive()) return recover({index}, ending_of(answer.error(), "collect"));
    candidate.outcome.ending = ending_of(answer.error(), "collect");
    handles_.erase(index);
    return {};
  }
  if (const auto late = text(answer->json, "late"); late && !late->empty()) {
    worker_->dismiss("work went on there after the clock had stopped");
    return recover({index}, late_work(*late));
  }
  const auto trespass = text(answer->json, "trespass");
  const auto beside_inputs = text(answer->json, "trespass_beside_inputs");
  const auto set = integer(answer->json, "set");
  const Json launch = answer->json.value("launch", Json());
  size_t files = 0;
  const auto output = output_from(answer->json.value("output", Json(false)), answer->fds, files);
  if (!trespass || !beside_inputs || !output || answer->fds.size() != files || !set || *set < 0 ||
      !launch.is_number_unsigned() || launch == 0)
    return recover({index}, ending_of(worker_->dismiss("an output that is none"), "collect"));
  if (!trespass->empty())
    candidate.outcome.ending =
        ending::Violation{"writes_outside", "while it was timed: " + *trespass};
  const Instances::Timed timed{static_cast<size_t>(*set), launch.get<uint64_t>()};
  ASSAY_TRY(const Check check, instances.check(0, *output, timed));
  if (candidate.outcome.proof) candidate.outcome.proof->launches += 1;
  if (launch_again && worker_->alive() && (!check.right || !beside_inputs->empty())) {
    // All share the inputs: who changed them, or wrote beside them, need not be this one.
    ASSAY_TRY(const auto violation, look_at_inputs());
    if (violation || !beside_inputs->empty()) {
      ASSAY_TRY(find_changer());
      return judge(instances, index, false);
    }
  }
  if (!check.right && candidate.alive())
    candidate.outcome.ending =
        ending::Mismatch{"an output of a timed launch is wrong: " + check.first_wrong};
  if (!candidate.alive()) handles_.erase(index);
  return {};
}

Result<std::optional<ending::Violation>> Bursts::look_at_inputs() {
  ASSAY_TRY(const Message answer,
            ask(*worker_, {{"do", "intact"}}, kOpenSeconds, "looking at the inputs"));
  ASSAY_TRY(const std::string trespass, text(answer.json, "trespass"));
  if (!trespass.empty())
    return ending::Violation{"writes_outside", "while it was timed: " + trespass};
  const auto intact = answer.json.find("intact");
  if (intact != answer.json.end() && *intact == true) return std::nullopt;
  return ending::Violation{"inputs_changed", "wrote to an input while it was timed"};
}

// Some kernel changed the inputs of all while it was timed, or wrote beside them. In a new worker,
// which looks after every burst, it shows whose doing that is: within as many rounds as it took,
// and some, since it may count its calls. Afterwards everybody has run on inputs that are as they
// should be.
Status Bursts::find_changer() {
  one_by_one_ = true;
  std::vector<size_t> who;
  for (const auto& [candidate, handle] : handles_) who.push_back(candidate);
  ASSAY_TRY(load_and_open(who));
  const int rounds = 2 * rounds_ + 8;
  bool found = false;
  for (int round = 0; round < rounds && !found; ++round) {
    for (const size_t candidate : who) {
      if (!is_open(candidate) || found) continue;
      Round alone;
      alone.complete = true;
      ASSAY_TRY(call_bursts({candidate}, static_cast<int64_t>(random_() >> 1), "race", alone));
      if (!alone.complete) continue;
      ASSAY_TRY(const auto violation, look_at_inputs());
      if (!violation) continue;
      found = true;
      worker_->dismiss("inputs that were changed");
      ASSAY_TRY(recover({candidate}, *violation));
    }
  }
  for (const size_t candidate : who) {
    Round alone;
    if (is_open(candidate))
      ASSAY_TRY(call_bursts({candidate}, static_cast<int64_t>(random_() >> 1), "race", alone));
  }
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
  const auto answer = worker_->call({{"do", "close"}, {"handles", handles}}, kOpenSeconds);
  if (answer) return {};
  if (is_interruption(answer.error()) || worker_->alive())
    return fail(as_error(answer.error(), "closing kernels"));
  // Some kernel's threads brought it down while nothing was launched: whose, nobody can tell.
  std::vector<size_t> rest;
  for (const auto& [candidate, handle] : handles_) rest.push_back(candidate);
  return load_and_open(rest);
}

Status Bursts::unload() {
  handles_.clear();
  if (worker_ == nullptr || !worker_->alive()) return {};
  if (tainted_) {
    // What users' code did to its process must not meet the next problem's kernels.
    worker_->dismiss("users' kernels ran there");
    return {};
  }
  const auto answer = worker_->call({{"do", "unload"}}, kOpenSeconds);
  if (answer || (!worker_->alive() && !is_interruption(answer.error())))
    return {};  // Dead, it holds nothing.
  return fail(as_error(answer.error(), "unloading operands"));
}

}  // namespace assay::sweep
