#include "assay/sweep/timing_process.h"

#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/record/coarse.h"
#include "assay/sweep/protocol.h"
#include "assay/sweep/told_bursts.h"

namespace assay::sweep {
namespace {
// The worker's total may exceed the parent's bracket by the resolution of two clock readings alone:
// both read CLOCK_MONOTONIC.
constexpr double kBracketSlackNs = 1000;
constexpr size_t kNowhere = static_cast<size_t>(-1);
// A process that stands still takes no processor time at all; the last tick of a thread on its way
// may be booked late.
constexpr int64_t kStandingNs = 50'000;
// In all of its parks, beyond that: whoever was taken off its core on the way leaves it later.
constexpr int64_t kLateOnceNs = 1'000'000;

constexpr const char* kWroteToOurs =
    "while it was timed, it wrote to what its process keeps about the race";
constexpr const char* kOtherMoments = "its process told of other moments than a burst has";

}  // namespace

Status TimingProcess::open(const Instances& instances, const std::vector<size_t>& candidates,
                           uint64_t seed) {
  instances_ = &instances;
  seed_ = seed;
  calls_ = 0;
  bare_ns_.clear();
  handles_.clear();
  return load_and_open(candidates);
}

Result<Child*> TimingProcess::worker() {
  ASSAY_TRY(worker_, station_.crew.member(company_, member_));
  // To hear of a burst's moments at once takes a core that the burst does not need. Warm bursts
  // have more of them than the system keeps.
  worker_->wake_for_moments(
      station_.crew.facts().threads < static_cast<int>(std::thread::hardware_concurrency()) ||
          station_.condition.cache == measure::Cache::warm,
      static_cast<uint8_t>(measure::BurstPulse::ready));
  // Behind the launch that leads in, and ahead of the first timed one.
  worker_->when_told(static_cast<uint8_t>(measure::BurstPulse::ready), [this] {
    constants_changed_ = constants_changed_ || (constants_ && constants_->changed(*worker_));
  });
  return worker_;
}

std::vector<size_t> TimingProcess::all_open() const {
  std::vector<size_t> all;
  for (const auto& [candidate, handle] : handles_) all.push_back(candidate);
  return all;
}

Status TimingProcess::load() {
  processor_time_.clear();
  outputs_.clear();
  late_stops_ns_ = 0;
  last_.reset();
  ASSAY_TRY(worker_, worker());
  ASSAY_TRY(const Message timer,
            ask(*worker_, {{"do", "timer"}}, kOpenSeconds, "reading the clock"));
  timer_ = {number_or(timer.json, "tick_ns", 1), number_or(timer.json, "read_ns", 30),
            number_or(timer.json, "empty_burst_ns", 60)};
  ASSAY_TRY(instances_->load_into(*worker_, seed_));
  ASSAY_TRY(const Message rotated, ask(*worker_,
                                       {{"do", "rotate"},
                                        {"condition", measure::to_json(station_.condition)},
                                        {"key", instances_->sets_key()},
                                        {"users", member_ > 0},
                                        {"as_needed", member_ == 0 && company_ == Crew::kRace}},
                                       kOpenSeconds, "placing operands"));
  ASSAY_TRY(const int64_t sets, integer(rotated.json, "sets"));
  sets_ = static_cast<int>(sets);
  turns_ = PlanTurns(static_cast<size_t>(std::max(0, sets_)));
  ASSAY_TRY(cold_doubt_, text(rotated.json, "cold_doubt"));
  return {};
}

Status TimingProcess::load_and_open(const std::vector<size_t>& candidates) {
  const auto is_alive = [&](size_t candidate) { return field_.candidates[candidate].alive(); };
  // Each death while opening ends one candidate, so this ends too.
  for (int deaths = 0;;) {
    handles_.clear();
    outputs_.clear();
    if (worker_ != nullptr && std::ranges::none_of(candidates, is_alive)) return {};
    if (Status loaded = load(); !loaded) {
      // What ran in an old worker may have killed it after its answers; a new one has run nothing.
      if (loaded.error().code == ErrorCode::interrupted || worker_ == nullptr || worker_->alive() ||
          ++deaths > 1)
        return loaded;
      continue;
    }
    if (member_ > 0) held_ = Holdings::of(worker_->pid());
    // Who opens first gets other memory than who opens last.
    std::vector<size_t> order = candidates;
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t candidate : order)
      if (is_alive(candidate) && worker_->alive()) ASSAY_TRY(open_one(candidate));
    ASSAY_TRY(remember_constants());
    if (worker_->alive()) return {};
  }
}

// As they are now, of a user's process on cores whose memory can be seen.
Status TimingProcess::remember_constants() {
  constants_.reset();
  constants_changed_ = false;
  if (member_ == 0 || !is_on_cores() || !worker_->shows_memory()) return {};
  const auto answer = worker_->call({{"do", "constants"}}, kOpenSeconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (worker_->alive())
      return fail(as_error(answer.error(), "remembering a process's constants"));
    return {};  // The next call finds how it ended.
  }
  constants_ = KeptConstants::remember(answer->json.value("parts", Json()), *worker_);
  if (constants_ || !worker_->alive()) return {};
  const Ending ending = ending_of(worker_->dismiss("constants that are none"), "bind");
  for (const size_t index : all_open()) field_.candidates[index].outcome.ending = ending;
  return {};
}

Status TimingProcess::open_one(size_t index) {
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
  if (is_on_cores()) {
    auto outputs = read_places(answer->json);
    if (!outputs) {
      candidate.outcome.ending = ending_of(worker_->dismiss("outputs that are nowhere"), "bind");
      return {};
    }
    outputs_.insert_or_assign(index, std::move(*outputs));
  }
  handles_[index] = static_cast<int>(handle);
  candidate.outcome.workspace_bytes = whole_or<uint64_t>(answer->json, "workspace_bytes", 0);
  candidate.outcome.prepared_bytes = whole_or<uint64_t>(answer->json, "prepared_bytes", 0);
  candidate.outcome.prepare_seconds = number_or(answer->json, "prepare_seconds", 0);
  candidate.add_facts(answer->json);
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

Status TimingProcess::end_call(const std::vector<size_t>& order, const Ending& ending,
                               const char* why, BurstRound& round) {
  round.complete = false;
  if (worker_->alive()) worker_->dismiss(why);
  return recover(order, ending);
}

Status TimingProcess::call_bursts(const std::vector<size_t>& order, int64_t seed,
                                  const std::string& stage, BurstRound& round) {
  // Late work of the burst before has had as long as we took for our own.
  ASSAY_TRY(const auto worked_on, find_late_work());
  if (worked_on) return end_call({*worked_on}, late_work(kOutputChanged), kWorkWentOn, round);
  ++calls_;
  // Bare links stand anywhere in the round.
  const bool chained = station_.condition.spacing == measure::Spacing::chain;
  const size_t bare_at = chained ? static_cast<size_t>(random_() % (order.size() + 1)) : kNowhere;
  Json bursts = Json::array();
  double expected_ns = 0;
  for (const size_t index : order) {
    const Candidate& candidate = field_.candidates[index];
    bursts.push_back({handles_.at(index), candidate.launches});
    expected_ns += candidate.launch_ns * candidate.launches;
  }
  if (chained)
    bursts.insert(bursts.begin() + static_cast<std::ptrdiff_t>(bare_at),
                  Json({kBareLinks, std::max(1, sets_ / 2)}));
  // A hang is told from slowness by far: 50 times what the bursts should take, besides the limit.
  const double limit = station_.request.trial_timeout_seconds + 50e-9 * expected_ns;
  const int64_t start = monotonic_ns();
  auto answer = worker_->call({{"do", "round"}, {"bursts", bursts}, {"seed", seed}}, limit);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  const ClockReading answered = worker_->read_clocks();
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
    turns_.forget();
    const auto handle = whole_or(*failed, "handle", -1);
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
    for (const size_t index : order)
      if (left->is_number_integer() && handles_.at(index) == left->get<int64_t>())
        return end_call({index}, left_processes(), "a process was left behind there", round);
    return end_call(order, left_processes(), "a process was left behind there", round);
  }
  if (const auto late = json.find("late"); late != json.end()) {
    const auto handle = whole_or(*late, "handle", -1);
    const auto work = text(*late, "work");
    const Ending ending = late_work(work ? *work : std::string());
    for (const auto& [index, open] : handles_)
      if (open == handle) return end_call({index}, ending, kWorkWentOn, round);
    return end_call(order, ending, kWorkWentOn, round);
  }
  if (const auto armed = text(json, "armed"); armed && !armed->empty())
    return end_call(order, late_work(*armed), "something was armed there", round);
  const auto told = read_bursts(json, bursts);
  if (!told) {
    round.complete = false;
    return recover(order, ending_of(worker_->dismiss("what are no samples"), stage));
  }
  double total = 0;
  std::vector<BurstSample> taken;
  std::optional<BurstSample> bare;
  for (size_t i = 0; i < told->size(); ++i) {
    const ToldBurst& burst = (*told)[i];
    BurstSample sample = {
        .candidate = kNowhere, .ns = burst.ns, .clean = burst.clean, .launches = burst.launches};
    total += static_cast<double>(sample.ns);
    if (i == bare_at) {
      bare = sample;
      continue;
    }
    sample.candidate = order[i - (i > bare_at ? 1 : 0)];
    taken.push_back(sample);
  }
  timed_ns_ += total;
  bursts_ += static_cast<int>(order.size());
  // The timer lives in the candidate's process: what it says must fit into what we saw ourselves.
  if (total > bracket + kBracketSlackNs)
    return end_call(order,
                    ending::Violation{"clock", "its times exceed the time that passed outside"},
                    "impossible times", round);
  if (is_on_cores()) {
    const auto moments = BurstMoments::of(worker_->take_moments());
    TimedOutputs& outputs = outputs_.at(order.front());
    if (!moments || !outputs.hear(*moments, told->front().launches) ||
        !turns_.take(outputs.plans_used()))
      return end_call(order, ending::Violation{"clock", kOtherMoments}, kOtherMoments, round);
    BurstSample& sample = taken.front();
    sample.outside_ns = moments->outside_ns();
    const int threads = station_.crew.facts().threads;
    const BurstMoments::Ran ran = moments->ran(threads);
    // What it says itself counts, too: whoever ran for longer is the slower for it.
    sample.ran_least_ns =
        std::max(ran.least_ns, std::min(threads * told->front().in_cores_ns(), ran.most_ns));
    sample.ran_most_ns = ran.most_ns;
    sample.clean = sample.clean && !moments->lost_core(threads, sample.ns);
    constexpr const char* kMore = "more was done there than was launched";
    if (constants_changed_ || (constants_ && constants_->changed(*worker_)))
      return end_call(order, ending::Violation{"writes_outside", kWroteToOurs},
                      "what it keeps about the race was changed", round);
    if (last_) {
      ProcessorTime& before = processor_time_[*last_];
      before.add_behind(told->front().others_since_ns);
      if (!before.excess().empty())
        return end_call({*last_}, late_work(before.excess()), kMore, round);
    }
    last_ = order.front();
    ProcessorTime& processor = processor_time_[*last_];
    processor.add(*moments, answered, station_.crew.facts().threads, told->front().told);
    if (!processor.excess().empty())
      return end_call(order, late_work(processor.excess()), kMore, round);
  }
  if (bare && bare->clean) bare_ns_.push_back(static_cast<double>(bare->ns) / bare->launches);
  if (bare) round.bare = bare;
  round.samples.insert(round.samples.end(), taken.begin(), taken.end());
  return {};
}

Status TimingProcess::park() {
  if (worker_ == nullptr || !worker_->alive() || worker_->parked()) return {};
  const bool stands = worker_->park();
  const int64_t ran_ns = worker_->cpu_while_parked_ns();
  late_stops_ns_ += std::max<int64_t>(0, ran_ns - kStandingNs);
  if (stands && late_stops_ns_ <= kLateOnceNs) return {};
  Ending ending = late_work(
      stands ? fmt::format("its process ran for {} us while it was to stand still", ran_ns / 1000)
             : "its process did not stand still when it was told to");
  if (!worker_->alive()) return {};  // It had ended: the next call tells how.
  worker_->dismiss("it did not stand still");
  if (member_ == 0)
    return fail(ErrorCode::machine, "the process of the stock kernels does not stand still");
  // All of it is one user's.
  for (const size_t index : all_open()) field_.candidates[index].outcome.ending = ending;
  return recover({}, ending);
}

Status TimingProcess::revive() {
  if (worker_ == nullptr || worker_->alive() || handles_.empty()) return {};
  return load_and_open(all_open());
}

// The worker is gone. If it ran one candidate, that one ends; of several, who it was shows when
// each burst is a call of its own.
Status TimingProcess::recover(const std::vector<size_t>& order, const Ending& ending) {
  if (order.size() == 1)
    field_.candidates[order.front()].outcome.ending = ending;
  else
    one_by_one_ = true;
  return load_and_open(all_open());
}

Result<std::optional<BurstSample>> TimingProcess::block(size_t index, double seconds) {
  if (!is_open(index)) return std::optional<BurstSample>();
  forget_outputs(index);
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
    return std::optional<BurstSample>();
  }
  const auto ns = integer(answer->json, "ns"), launches = integer(answer->json, "launches");
  constexpr int64_t kMostLaunches = 1 << 30;
  if (!ns || !launches || *ns <= 0 || *launches <= 0 || *launches > kMostLaunches ||
      static_cast<double>(*ns) > bracket + kBracketSlackNs) {
    ASSAY_TRY(recover({index}, ending_of(worker_->dismiss("a block that is none"), "own clock")));
    return std::optional<BurstSample>();
  }
  timed_ns_ += static_cast<double>(*ns);
  return std::optional(BurstSample{
      .candidate = index, .ns = *ns, .clean = true, .launches = static_cast<int>(*launches)});
}

Result<std::optional<EventCounts>> TimingProcess::count(size_t index, int launches) {
  if (!is_open(index)) return std::optional<EventCounts>();
  const double expected_ns = field_.candidates[index].launch_ns * launches;
  const double limit = station_.request.trial_timeout_seconds + 50e-9 * expected_ns;
  forget_outputs(index);
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

Status TimingProcess::close(const std::vector<size_t>& who) {
  Json handles = Json::array();
  for (const size_t candidate : who)
    if (is_open(candidate)) {
      handles.push_back(handles_.at(candidate));
      handles_.erase(candidate);
    }
  if (handles.empty()) return {};
  const auto answer = worker_->call({{"do", "close"}, {"handles", handles}}, kOpenSeconds);
  if (answer) return remember_constants();
  if (is_interruption(answer.error()) || worker_->alive())
    return fail(as_error(answer.error(), "closing kernels"));
  // Some kernel's threads brought it down while nothing was launched: whose, nobody can tell.
  return load_and_open(all_open());
}

// What a user's process holds beyond what its kernels declared is a fact of theirs.
void TimingProcess::tell_holdings() {
  if (!held_ || handles_.empty() || !worker_->alive()) return;
  const auto now = Holdings::of(worker_->pid());
  if (!now) return;
  // Four outputs or what fits into a megabyte, four workspaces (worker_problem.cc), and packed
  // constants of every set.
  constexpr int64_t kOutputs = int64_t{1} << 20, kCopies = 4;
  int64_t outputs = kOutputs, declared = 0;
  for (const Operand& operand : station_.problem.operands())
    if (operand.access == Access::write) outputs += kCopies * operand.span_bytes;
  for (const size_t index : all_open()) {
    const KernelOutcome& outcome = field_.candidates[index].outcome;
    declared += outputs + kCopies * static_cast<int64_t>(outcome.workspace_bytes) +
                sets_ * static_cast<int64_t>(outcome.prepared_bytes);
  }
  const std::string grown = now->grown_since(*held_, declared);
  if (grown.empty()) return;
  for (const size_t index : all_open()) {
    auto& findings = field_.candidates[index].outcome.findings;
    if (std::ranges::find(findings, "own_memory", &Finding::code) == findings.end())
      findings.push_back({"own_memory", "its process took beyond what it declared: " + grown});
  }
}

Status TimingProcess::unload() {
  if (worker_ != nullptr) tell_holdings();
  handles_.clear();
  if (worker_ == nullptr || !worker_->alive()) return {};
  if (tainted_ || member_ > 0) {
    // What users' code did to its process must not meet the next problem's kernels.
    worker_->dismiss("users' kernels ran there");
    return {};
  }
  const auto answer = worker_->call({{"do", "unload"}}, kOpenSeconds);
  if (answer) station_.crew.learn_code(answer->json.value("code", Json()));
  if (answer || (!worker_->alive() && !is_interruption(answer.error())))
    return {};  // Dead, it holds nothing.
  return fail(as_error(answer.error(), "unloading operands"));
}

}  // namespace assay::sweep
