#include "assay/timing/timing_process.h"

#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/record/coarse.h"
#include "assay/timing/endings.h"

namespace assay::sweep {
namespace {
// The worker's total may exceed the parent's bracket by the resolution of two clock readings alone:
// both read CLOCK_MONOTONIC.
constexpr double kBracketSlackNs = 1000;
constexpr size_t kNowhere = static_cast<size_t>(-1);
// A process that stands still takes no processor time at all; the last tick of a thread on its way
// may be booked late.
constexpr int64_t kStandingNs = 50'000;
// In all of its parks, beyond that: whoever was taken off its core on the way leaves it later. If
// the core itself was taken, by a hypervisor, that is on the process's clock (1.7 ms, seen).
constexpr int64_t kLateOnceNs = 5'000'000;

constexpr const char* kWroteToOurs =
    "while it was timed, it wrote to what its process keeps about the race";
constexpr const char* kLeftThere = "a process was left behind there";
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
  ASSAY_TRY(worker_, site_.processes.member(company_, member_));
  // To hear of a burst's moments at once takes a core that the burst does not need. Warm bursts
  // have more of them than the system keeps.
  worker_->wake_for_moments(
      site_.processes.facts().threads < static_cast<int>(std::thread::hardware_concurrency()) ||
          site_.condition.cache == measure::Cache::warm,
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
  ASSAY_TRY(const auto timer,
            ask(*worker_, process::MeasureTimer{}, kOpenSeconds, "reading the clock"));
  timer_ = timer.facts;
  ASSAY_TRY(instances_->load_into(*worker_, seed_));
  ASSAY_TRY(auto rotated,
            ask(*worker_,
                process::Rotate{.condition = site_.condition,
                                .key = instances_->sets_key(),
                                .users = member_ > 0,
                                .as_needed = member_ == 0 && company_ == Processes::kRace},
                kOpenSeconds, "placing operands"));
  sets_ = rotated.sets;
  turns_ = PlanTurns(static_cast<size_t>(sets_));
  cold_doubt_ = std::move(rotated.cold_doubt);
  return {};
}

Status TimingProcess::load_and_open(const std::vector<size_t>& candidates) {
  const auto is_alive = [&](size_t candidate) { return field_.candidates[candidate].alive(); };
  // Each death while opening ends one candidate, but for the first by memory: so this ends too.
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
    // Where not all fit, those race that can decide it: stock kernels, and whoever was fast so far.
    if (room_.is_short())
      std::ranges::stable_sort(order, {}, [&](size_t candidate) {
        const Candidate& one = field_.candidates[candidate];
        return std::pair(one.outcome.role != KernelRole::stock, one.launch_ns);
      });
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
  const auto answer = worker_->call(process::FindConstants{}, kOpenSeconds);
  if (answer) constants_ = KeptConstants::remember(answer->parts, *worker_);
  if (constants_) return {};
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (worker_->alive())
      return fail(as_error(answer.error(), "remembering a process's constants"));
    // The next call finds how it ended.
    if (std::get<Death>(answer.error()).kind != Death::Kind::broke_protocol) return {};
  } else if (!worker_->alive()) {
    return {};
  }
  const Ending ending = ending_of(worker_->dismiss("constants that are none"), "bind");
  for (const size_t index : all_open()) field_.candidates[index].outcome.ending = ending;
  return {};
}

Status TimingProcess::open_one(size_t index) {
  Candidate& candidate = field_.candidates[index];
  const std::string& id = candidate.outcome.id;
  const std::string family = candidate.outcome.provider + '/' + candidate.family;
  const int64_t held = worker_->resident_bytes();
  if (!room_.fits(id, family, candidate.prepares, held)) {
    candidate.outcome.ending = ending::OutOfMemory{"bind", room_.limit_bytes()};
    return {};
  }
  auto answer = worker_->call(process::Open{candidate.built_kernel()}, kOpenSeconds);
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    const Ending ending = ending_of(answer.error(), "bind");
    const auto* const out = std::get_if<ending::OutOfMemory>(&ending);
    // Whose turn it was when memory ended for the first time is chance: all are opened again.
    const bool is_chance = out != nullptr && !room_.is_short();
    if (out != nullptr) room_.ran_out(id, family, held, out->limit_bytes);
    if (!is_chance) candidate.outcome.ending = ending;
    return {};
  }
  room_.took(id, family, held, worker_->resident_bytes());
  if (answer->left_processes) {
    candidate.outcome.ending = left_processes();
    worker_->dismiss(kLeftThere);
    return {};
  }
  if (!answer->armed.empty()) {
    candidate.outcome.ending = late_work(answer->armed);
    worker_->dismiss("something was armed there");
    return {};
  }
  tainted_ = tainted_ || site_.taints_process(candidate);
  if (is_on_cores()) {
    auto outputs = outputs_at(std::move(answer->outputs));
    if (!outputs) {
      candidate.outcome.ending = ending_of(worker_->dismiss("outputs that are nowhere"), "bind");
      return {};
    }
    outputs_.insert_or_assign(index, std::move(*outputs));
  }
  handles_[index] = answer->handle;
  candidate.outcome.workspace_bytes = answer->workspace_bytes;
  candidate.outcome.prepared_bytes = answer->prepared_bytes;
  candidate.outcome.prepare_seconds = answer->prepare_seconds;
  candidate.add_facts(answer->object);
  candidate.outcome.launches = std::move(answer->launches);
  return {};
}

Status TimingProcess::end_call(const std::vector<size_t>& order, const Ending& ending,
                               const char* why, BurstRound& round) {
  round.complete = false;
  if (worker_->alive()) worker_->dismiss(why);
  return recover(order, ending);
}

// Some kernel failed, or left work behind: it ends, if it can be told which it was.
Status TimingProcess::end_early(const std::vector<size_t>& order,
                                const process::Round::Answer& answer, BurstRound& round) {
  using End = process::Round::Answer::End;
  if (!answer.ended)
    return end_call(order, late_work(answer.armed), "something was armed there", round);
  const process::Round::Answer::Ended& ended = *answer.ended;
  // What was late may be of an earlier burst.
  std::optional<size_t> who;
  for (const auto& [index, handle] : handles_)
    if (handle == ended.handle &&
        (ended.how == End::late_work || std::ranges::find(order, index) != order.end()))
      who = index;
  const std::vector<size_t> whose = who ? std::vector{*who} : order;
  switch (ended.how) {
    case End::launch_failed:
      round.complete = false;
      turns_.forget();
      if (!who) return recover(order, ending_of(worker_->dismiss("a failure of nobody"), "race"));
      field_.candidates[*who].outcome.ending =
          ending::Mismatch{"a launch failed while it was timed: " + ended.why};
      handles_.erase(*who);
      return {};
    case End::left_processes:
      return end_call(whose, left_processes(), kLeftThere, round);
    case End::late_work:
      return end_call(whose, late_work(ended.why), kWorkWentOn, round);
  }
  return {};
}

Status TimingProcess::call_bursts(const std::vector<size_t>& order, uint64_t seed,
                                  const std::string& stage, BurstRound& round) {
  // Late work of the burst before has had as long as we took for our own.
  ASSAY_TRY(const auto worked_on, find_late_work());
  if (worked_on) return end_call({*worked_on}, late_work(kOutputChanged), kWorkWentOn, round);
  ++calls_;
  // Bare links stand anywhere in the round.
  const bool chained = site_.condition.spacing == measure::Spacing::chain;
  const size_t bare_at = chained ? static_cast<size_t>(random_() % (order.size() + 1)) : kNowhere;
  process::Round asked{.bursts = {}, .seed = seed, .approach_ns = field_.approaches.least_ns()};
  double expected_ns = 0;
  for (const size_t index : order) {
    const Candidate& candidate = field_.candidates[index];
    asked.bursts.push_back({handles_.at(index), candidate.launches});
    expected_ns += candidate.launch_ns * candidate.launches;
  }
  if (chained)
    asked.bursts.insert(asked.bursts.begin() + static_cast<std::ptrdiff_t>(bare_at),
                        {process::kBareLinks, std::max(1, sets_ / 2)});
  // A hang is told from slowness by far: 50 times what the bursts should take, besides the limit.
  const double limit = site_.trial_seconds + 50e-9 * expected_ns;
  const int64_t start = monotonic_ns();
  const auto answer = worker_->call(asked, limit);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  const ClockReading answered = worker_->read_clocks();
  wall_ns_ += bracket;
  if (!answer) {
    round.complete = false;
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    if (worker_->alive()) return fail(as_error(answer.error(), "timing a round"));
    return recover(order, ending_of(answer.error(), stage));
  }
  if (answer->ended || !answer->armed.empty()) return end_early(order, *answer, round);
  double total = 0;
  std::vector<BurstSample> taken;
  std::optional<BurstSample> bare;
  for (size_t i = 0; i < answer->bursts.size(); ++i) {
    const process::Round::Answer::Timed& burst = answer->bursts[i];
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
    const process::Round::Answer::Timed& told = answer->bursts.front();
    TimedOutputs& outputs = outputs_.at(order.front());
    if (!moments || !outputs.hear(*moments, told.launches) || !turns_.take(outputs.plans_used()))
      return end_call(order, ending::Violation{"clock", kOtherMoments}, kOtherMoments, round);
    BurstSample& sample = taken.front();
    if (member_ > 0) field_.approaches.add(order.front(), told.approach_ns, bracket - total);
    sample.outside_ns = moments->outside_ns();
    if (const int64_t worked_ns = moments->thread_ns(); worked_ns >= 0)
      sample.beside_ns = std::max<int64_t>(1, worked_ns - sample.ns);
    const int threads = site_.processes.facts().threads;
    const BurstMoments::Ran ran = moments->ran(threads);
    // What it says itself counts, too: whoever ran for longer is the slower for it.
    sample.ran_least_ns =
        std::max(ran.least_ns, std::min(threads * told.in_cores_ns(), ran.most_ns));
    sample.ran_most_ns = ran.most_ns;
    sample.clean = sample.clean && !moments->lost_core(threads, sample.ns);
    constexpr const char* kMore = "more was done there than was launched";
    if (constants_changed_ || (constants_ && constants_->changed(*worker_)))
      return end_call(order, ending::Violation{"writes_outside", kWroteToOurs},
                      "what it keeps about the race was changed", round);
    if (last_) {
      ProcessorTime& before = processor_time_[*last_];
      before.add_behind(told.others_since_ns);
      if (!before.excess().empty())
        return end_call({*last_}, late_work(before.excess()), kMore, round);
    }
    last_ = order.front();
    ProcessorTime& processor = processor_time_[*last_];
    processor.add(*moments, answered, threads, {told.ns, told.taken_ns, told.others_ahead_ns});
    if (!processor.excess().empty())
      return end_call(order, late_work(processor.excess()), kMore, round);
    sample.clean = sample.clean && !processor.doubted();
    if (sample.clean) around_->add(*last_, member_ > 0, sample.launches, *moments, sample.ns);
    if (const auto excess = around_->excess(*last_))
      return end_call(order, late_work(*excess), kMore, round);
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
  const auto answer = worker_->call(process::RunBlock{handles_.at(index), seconds},
                                    site_.trial_seconds + 2 * seconds);
  const double bracket = static_cast<double>(monotonic_ns() - start);
  wall_ns_ += bracket;
  if (!answer) {
    if (is_interruption(answer.error())) return fail(std::get<Error>(answer.error()));
    worker_->dismiss("a launch failed there");
    ASSAY_TRY(recover({index}, ending_of(answer.error(), "own clock")));
    return std::optional<BurstSample>();
  }
  if (static_cast<double>(answer->ns) > bracket + kBracketSlackNs) {
    ASSAY_TRY(recover({index}, ending_of(worker_->dismiss("a block that is none"), "own clock")));
    return std::optional<BurstSample>();
  }
  timed_ns_ += static_cast<double>(answer->ns);
  return std::optional(BurstSample{
      .candidate = index, .ns = answer->ns, .clean = true, .launches = answer->launches});
}

Result<std::optional<EventCounts>> TimingProcess::count(size_t index, int launches) {
  if (!is_open(index)) return std::optional<EventCounts>();
  const double expected_ns = field_.candidates[index].launch_ns * launches;
  const double limit = site_.trial_seconds + 50e-9 * expected_ns;
  forget_outputs(index);
  const auto answer =
      worker_->call(process::Count{handles_.at(index), launches, random_() >> 1}, limit);
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
  EventCounts counts;
  counts.launches = answer->launches;
  counts.clock_hz = answer->clock_hz;
  for (const measure::EventCount& event : answer->events)
    if (event.unavailable.empty())
      counts.per_launch[event.event] = event.count / counts.launches;
    else
      counts.unavailable[event.event] = event.unavailable;
  return std::optional(std::move(counts));
}

Status TimingProcess::close(const std::vector<size_t>& who) {
  process::Close closing;
  for (const size_t candidate : who)
    if (is_open(candidate)) {
      closing.handles.push_back(handles_.at(candidate));
      handles_.erase(candidate);
    }
  if (closing.handles.empty()) return {};
  const auto answer = worker_->call(closing, kOpenSeconds);
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
  // Four outputs or what fits into a megabyte, four workspaces (worker/cpu/problem.cc), and packed
  // constants of every set.
  constexpr int64_t kOutputs = int64_t{1} << 20, kCopies = 4;
  int64_t outputs = kOutputs, declared = 0;
  for (const Operand& operand : site_.problem.operands())
    if (operand.access != Access::read) outputs += kCopies * operand.span_bytes;
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
  auto answer = worker_->call(process::Unload{}, kOpenSeconds);
  if (answer) site_.processes.learn_code(std::move(answer->code));
  if (answer || (!worker_->alive() && !is_interruption(answer.error())))
    return {};  // Dead, it holds nothing.
  return fail(as_error(answer.error(), "unloading operands"));
}

}  // namespace assay::sweep
