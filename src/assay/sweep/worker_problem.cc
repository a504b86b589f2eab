#include "assay/sweep/worker_problem.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/measure/cold_probe.h"
#include "assay/measure/flush.h"
#include "assay/measure/stop_copy.h"
#include "assay/sweep/input_places.h"
#include "assay/sweep/prepared_pool.h"
#include "assay/sweep/recent_launches.h"
#include "assay/sweep/worker_manners.h"
#include "assay/sweep/worker_rotation.h"
#include "assay/verify/float_control.h"
#include "assay/verify/workspace.h"

namespace assay::sweep {
namespace {

// More sets than this, or of more bytes, would fill the memory with copies of the operands and of
// every layout that they are packed into: then each set is flushed from the caches after its use,
// and a few of them do.
constexpr int kMostSets = 64;
constexpr double kMostRotatedBytes = 0x1.8p28;  // Three times the caches of most machines.
constexpr double kFlushedBytes = 0x1p27;
constexpr int kLeastFlushedSets = 16;
// Each launch of a burst writes an output of its own, any of which may be looked at afterwards: no
// launch is one that a kernel can know to be overwritten. A burst has as many launches as fit here.
constexpr size_t kOutputBytes = size_t{1} << 20;
constexpr int kWorkspaceCopies = 4;
// Warm launches of a burst read the same operands: so many sets, each with an output of its own,
// share them. All but one are launched and timed; that one warms the operands before.
constexpr size_t kWarmSharers = 16;

std::string describe(const verify::GuardedArena::Trespass& trespass, std::string_view what) {
  return fmt::format("{} bytes written outside {} (first at byte {} of it)", trespass.changed, what,
                     trespass.byte);
}

Result<UniqueFd> copy_out(std::span<const std::byte> bytes) {
  return create_sealed_memfd("assay-output", bytes);
}

}  // namespace

// Packed constants, by operand set; shared by the open kernels of one layout.
struct WorkerProblem::Panels {
  PreparedPool pool;
  std::vector<std::span<std::byte>> sets;
  double prepare_seconds = 0;  // Of one set.
};

struct WorkerProblem::OpenKernel {
  Kernel kernel;
  std::unique_ptr<verify::GuardedArena> buffers;  // Outputs, then workspaces.
  std::shared_ptr<Panels> panels;                 // Outlive the plans that point into them.
  std::vector<Plan> plans;                        // One per operand set.
  std::vector<Plan*> next;  // Scratch for a burst: no allocation while timing.
  RecentLaunches recent;
  measure::StopCopy at_stop;      // Of a burst that was looked at; until the next one.
  RecentLaunches::Launch looked;  // The first launch in it.
  uint64_t workspace_bytes = 0;
  size_t outputs = kLeastOutputs;  // Launches go round them.
};

WorkerProblem::WorkerProblem(Problem problem, const Operation& operation, Device& device,
                             int threads, uint64_t seed)
    : problem_(std::move(problem)),
      operation_(operation),
      device_(device),
      threads_(threads),
      seed_(seed),
      scatter_(
          fast_hash(std::as_bytes(std::span(&seed, 1)), static_cast<uint64_t>(monotonic_ns()))),
      output_(output_of(problem_)) {}

WorkerProblem::~WorkerProblem() = default;

uint64_t WorkerProblem::next_seed() { return CounterRandom{seed_, 3}.bits(++seeds_used_); }

Result<std::unique_ptr<WorkerProblem>> WorkerProblem::create(
    Problem problem, Device& device, int threads, std::vector<std::vector<MappedFile>> instances,
    uint64_t seed) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  std::unique_ptr<WorkerProblem> worker(
      new WorkerProblem(std::move(problem), *operation, device, threads, seed));
  ASSAY_TRY(worker->stream_, device.make_stream());
  const auto operands = worker->problem_.operands();
  for (const auto& instance : instances) {
    ASSAY_TRY(InputPlaces places, place_inputs(worker->problem_, instance));
    InputSet set;
    ASSAY_TRY(set.arena, verify::GuardedArena::allocate(device, places.sizes, worker->next_seed()));
    set.index = std::move(places.index);
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.index[i] == kNowhere) continue;
      std::ranges::copy(instance[i].bytes(), set.arena.at(set.index[i]).begin());
      set.hashes.push_back(fast_hash(std::span<const std::byte>(set.arena.at(set.index[i])), seed));
    }
    worker->instances_.push_back(std::move(set));
  }
  return worker;
}

Result<ProvenLaunch> WorkerProblem::prove(const Kernel& kernel, const Artifact& artifact,
                                          size_t instance, bool repeat) {
  if (instance >= instances_.size()) return fail(ErrorCode::internal, "no instance {}", instance);
  InputSet& inputs = instances_[instance];
  const auto operands = problem_.operands();
  const auto output_bytes = static_cast<size_t>(operands[output_].span_bytes);
  ASSAY_TRY(const size_t workspace_bytes,
            verify::workspace_bytes(kernel, problem_, threads_, device_));
  const size_t sizes[] = {output_bytes, workspace_bytes};
  ASSAY_TRY(auto buffers, verify::GuardedArena::allocate(device_, sizes, next_seed()));
  PreparedPool prepared(device_, next_seed(), 1);

  Arguments arguments{problem_, {}};
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.data.push_back(inputs.index[i] == kNowhere ? buffers.at(0).data()
                                                         : inputs.arena.at(inputs.index[i]).data());
  ASSAY_TRY(Plan plan,
            kernel.plan({arguments, artifact, device_, buffers.at(1), threads_, &prepared}));

  ProvenLaunch proven;
  proven.launches = repeat ? 2 : 1;
  std::vector<std::byte> first;
  const verify::FloatControl control = verify::FloatControl::read();
  bool known_same = false;
  for (int launch = 0; launch < proven.launches; ++launch) {
    verify::poison(buffers.at(0), next_seed());
    verify::poison(buffers.at(1), next_seed());
    const int64_t start = monotonic_ns();
    ASSAY_TRY(plan.launch(*stream_));
    ASSAY_TRY(stream_->synchronize());
    proven.launch_ns = static_cast<double>(monotonic_ns() - start);
    if (!(verify::FloatControl::read() == control)) {
      proven.float_control_changed = true;
      control.restore();
    }
    if (launch == 0) {
      first.assign(buffers.at(0).begin(), buffers.at(0).end());
    } else if (is_dense(operands[output_])) {  // Of others the referee compares the values.
      known_same = proven.repeatable = std::ranges::equal(first, buffers.at(0));
    }
  }
  if (const auto trespass = buffers.find_trespass())
    proven.trespass = describe(*trespass, trespass->index == 0 ? "the output" : "the workspace");
  if (const auto trespass = inputs.arena.find_trespass())
    proven.trespass = describe(*trespass, "an input");
  for (size_t i = 0; i < operands.size(); ++i) {
    if (inputs.index[i] == kNowhere) continue;
    if (fast_hash(std::span<const std::byte>(inputs.arena.at(inputs.index[i])), seed_) !=
        inputs.hashes[inputs.index[i]])
      proven.inputs_changed = true;
  }
  ASSAY_TRY(proven.output.file, copy_out(first));
  if (repeat && !known_same) {
    ASSAY_TRY(proven.second.emplace().file, copy_out(buffers.at(0)));
  }
  return proven;
}

Status WorkerProblem::make_rotation(const measure::Condition& condition) {
  if (instances_.empty()) return fail(ErrorCode::internal, "no inputs to rotate");
  condition_ = condition;
  const auto operands = problem_.operands();
  double cold_bytes = 0;
  for (const Operand& operand : operands)
    if (measure::is_cold(operand, condition)) cold_bytes += static_cast<double>(operand.span_bytes);
  const bool can_flush = measure::flush_from_caches({});
  int count = kLeastSets;
  if (cold_bytes > 0) {
    const double bytes = kCacheMultiple * static_cast<double>(device_.last_level_cache_bytes());
    const double wanted = bytes / cold_bytes;
    flush_ =
        can_flush && (wanted > kMostSets || (bytes > kMostRotatedBytes && wanted > kLeastSets));
    count = flush_ ? std::clamp(static_cast<int>(std::min(kFlushedBytes / cold_bytes, 1e6)),
                                kLeastFlushedSets, kMostSets)
                   : std::max(count, static_cast<int>(std::min(wanted, 1e6)) + 1);
  }
  // Even, so that half a turn is whole, and two outputs go round in step.
  count += count % 2;
  sharers_ = condition.cache == measure::Cache::warm ? kWarmSharers : 1;

  InputSet& source = instances_.front();
  std::vector<size_t> sizes;
  for (int s = 0; s < count; ++s)
    for (size_t i = 0; i < operands.size(); ++i)
      if (source.index[i] != kNowhere) sizes.push_back(source.arena.at(source.index[i]).size());
  ASSAY_TRY(auto arena, verify::GuardedArena::allocate(device_, sizes, next_seed()));
  rotation_ = std::make_unique<verify::GuardedArena>(std::move(arena));
  sets_.clear();
  size_t at = 0;
  for (int s = 0; s < count; ++s) {
    Set set;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (source.index[i] == kNowhere) {
        set.data.push_back(nullptr);
        continue;
      }
      std::ranges::copy(source.arena.at(source.index[i]), rotation_->at(at).begin());
      set.data.push_back(rotation_->at(at++).data());
    }
    sets_.insert(sets_.end(), sharers_, set);
  }
  if (const size_t operand = operation_.varied_operand(problem_); operand < operands.size()) {
    const auto varied = source.arena.at(source.index[operand]);
    pristine_varied_.assign(varied.begin(), varied.end());
  }
  cold_doubt_ = cold_bytes > 0 ? check_cold() : std::string();
  if (!cold_doubt_.empty() && can_flush && !flush_) {
    flush_ = true;
    cold_doubt_ = check_cold();
  }
  return {};
}

// Reads what launches would, as they would find it.
std::string WorkerProblem::check_cold() {
  constexpr size_t kSets = 8;
  const auto operands = problem_.operands();
  std::vector<measure::Regions> regions;
  size_t bytes = 0;
  for (size_t s = 0; s < std::min(kSets, sets_.size()); ++s) {
    if (flush_) flush(s, {});
    measure::Regions& set = regions.emplace_back();
    bytes = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (sets_[s].data[i] == nullptr || !measure::is_cold(operands[i], condition_)) continue;
      set.push_back({static_cast<const std::byte*>(sets_[s].data[i]),
                     static_cast<size_t>(operands[i].span_bytes)});
      bytes += set.back().size();
    }
  }
  std::string doubt = measure::doubt_of_cold(measure::probe_reads(regions), bytes,
                                             device_.last_level_cache_bytes());
  // The first launches must not find what was read here.
  for (size_t s = 0; s < regions.size(); ++s) flush(s, {});
  return doubt;
}

Result<WorkerProblem::Opened> WorkerProblem::open(const Kernel& kernel, const Artifact& artifact) {
  if (sets_.empty()) return fail(ErrorCode::internal, "no operand sets");
  auto opened = std::make_unique<OpenKernel>(OpenKernel{kernel, {}, {}, {}, {}, {}, {}, {}, 0});
  ASSAY_TRY(opened->workspace_bytes, verify::workspace_bytes(kernel, problem_, threads_, device_));
  const auto output_bytes = static_cast<size_t>(problem_.operands()[output_].span_bytes);
  const size_t ring = count_outputs(sets_.size(), output_bytes, kOutputBytes);
  opened->outputs = ring;
  std::vector<size_t> sizes(ring, output_bytes);
  sizes.insert(sizes.end(), kWorkspaceCopies, opened->workspace_bytes);
  ASSAY_TRY(auto buffers, verify::GuardedArena::allocate(device_, sizes, next_seed()));
  opened->buffers = std::make_unique<verify::GuardedArena>(std::move(buffers));
  // Its pages are there before the first burst, and no earlier kernel's result is.
  for (size_t o = 0; o < ring; ++o) verify::poison(opened->buffers->at(o), next_seed());
  const std::string layout = kernel.prepared_layout(problem_);
  const std::string shared = layout.empty() ? layout
                                            : kernel.metadata().provider() + "/" +
                                                  kernel.metadata().family() + "/" + layout;
  if (!shared.empty()) opened->panels = panels_[shared].lock();
  if (!opened->panels) {
    opened->panels = std::make_shared<Panels>(
        Panels{PreparedPool(device_, next_seed(), sets_.size() / sharers_), {}});
    if (!shared.empty()) panels_[shared] = opened->panels;
  }
  Opened facts;
  facts.workspace_bytes = opened->workspace_bytes;
  for (size_t s = 0; s < sets_.size(); ++s) {
    Arguments arguments{problem_, sets_[s].data};
    arguments.data[output_] = opened->buffers->at(s % ring).data();
    const auto workspace = opened->buffers->at(ring + s % kWorkspaceCopies);
    Panels& panels = *opened->panels;
    const size_t operands = s / sharers_;
    const bool packed = operands < panels.sets.size();
    ASSAY_TRY(Plan plan,
              kernel.plan({arguments, artifact, device_, workspace, threads_, &panels.pool,
                           packed ? panels.sets[operands] : std::span<std::byte>{}}));
    facts.prepared_bytes = plan.prepared_bytes();
    if (!packed) {
      panels.prepare_seconds = plan.prepare_seconds();
      panels.sets.push_back({static_cast<std::byte*>(plan.data().back()), plan.prepared_bytes()});
    }
    facts.prepare_seconds = panels.prepare_seconds;
    opened->plans.push_back(std::move(plan));
  }
  opened->next.reserve(sets_.size());
  facts.handle = static_cast<int>(open_.size());
  open_.push_back(std::move(opened));
  return facts;
}

void WorkerProblem::close(int handle) {
  if (handle >= 0 && static_cast<size_t>(handle) < open_.size())
    open_[static_cast<size_t>(handle)].reset();
}

void WorkerProblem::vary(size_t s, uint64_t seed) {
  const size_t operand = operation_.varied_operand(problem_);
  Set& set = sets_[s];
  if (operand >= set.data.size()) return;  // Everything is constant: there is nothing to vary.
  operation_.vary(problem_, seed, pristine_varied_,
                  {static_cast<std::byte*>(set.data[operand]), pristine_varied_.size()});
  const size_t first = s - s % sharers_;
  for (size_t sharer = first; sharer < first + sharers_; ++sharer) sets_[sharer].variation = seed;
}

bool WorkerProblem::at_rest() { return watch_.wait_until_quiet(kRestNs); }

bool WorkerProblem::has_left_processes() { return has_children(); }

Result<WorkerProblem::OpenKernel*> WorkerProblem::kernel_at(int handle) {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  return open_[static_cast<size_t>(handle)].get();
}

Status WorkerProblem::line_up(OpenKernel& kernel, int launches, uint64_t round_seed) {
  const bool warm = condition_.cache == measure::Cache::warm;
  // Cold: half a turn, so that no set is varied between its variation and its launch. Warm: one
  // that shares the operands is left to warm them. An output for each.
  const size_t most =
      warm ? std::min(sharers_, kernel.outputs) - 1 : std::min(sets_.size() / 2, kernel.outputs);
  launches = std::clamp(launches, 1, static_cast<int>(most));
  const auto set_of = [&](int launch) {
    const size_t l = static_cast<size_t>(launch);
    if (!warm) return (cursor_ + l) % sets_.size();
    const size_t groups = sets_.size() / sharers_;
    return cursor_ % groups * sharers_ + (cursor_ / groups + l) % sharers_;
  };
  kernel.next.clear();
  kernel.at_stop.drop();
  for (int l = 0; l < launches; ++l) {
    const size_t s = set_of(l);
    kernel.next.push_back(&kernel.plans[s]);
    const uint64_t seed = CounterRandom{round_seed, cursor_}.bits(static_cast<uint64_t>(l)) | 1;
    if (condition_.cache == measure::Cache::cold) {
      // Writing an operand just before its launch would warm it: vary a set half a turn ahead.
      const size_t ahead = (s + sets_.size() / 2) % sets_.size();
      vary(ahead, seed);
      if (flush_) flush(ahead, {});
    } else if (!warm || l == 0) {
      vary(s, seed);
    }
    kernel.recent.add({s, sets_[s].variation});
  }
  if (warm) {
    const size_t s = set_of(launches);
    kernel.recent.add({s, sets_[s].variation});
    ASSAY_TRY(kernel.plans[s].launch(*stream_));
  }
  cursor_ += warm ? 1 : static_cast<size_t>(launches);
  launched_ = true;
  return {};
}

void WorkerProblem::clean_up(OpenKernel& kernel) {
  if (!flush_) return;
  for (size_t l = 0; l < kernel.next.size(); ++l)
    flush(kernel.recent.back(l).set, kernel.panels->sets);
}

Result<measure::Burst> WorkerProblem::burst(int handle, int launches, uint64_t round_seed) {
  ASSAY_TRY(OpenKernel * kernel, kernel_at(handle));
  ASSAY_TRY(line_up(*kernel, launches, round_seed));
  if (std::exchange(look_, false)) aim_look(*kernel);
  const verify::FloatControl control = verify::FloatControl::read();
  auto burst = measure::time_burst(kernel->next, *stream_, watch_, kernel->at_stop);
  control.restore();
  clean_up(*kernel);
  return burst;
}

void WorkerProblem::aim_look(OpenKernel& kernel) {
  std::vector<std::span<const std::byte>> outputs;
  std::vector<RecentLaunches::Launch> launches;
  for (const Plan* plan : kernel.next) {
    const auto s = static_cast<size_t>(plan - kernel.plans.data());
    const auto output = kernel.buffers->at(s % kernel.outputs);
    // Where nothing varies, what an earlier launch left there would be right.
    if (pristine_varied_.empty()) verify::poison(output, next_seed());
    launches.push_back({s, sets_[s].variation});
    outputs.push_back(output);
  }
  kernel.looked = launches[kernel.at_stop.aim(outputs, next_seed())];
}

std::optional<int> WorkerProblem::find_late_work() {
  for (size_t handle = 0; handle < open_.size(); ++handle) {
    if (!open_[handle] || !open_[handle]->at_stop.differs()) continue;
    open_[handle]->at_stop.drop();
    return static_cast<int>(handle);
  }
  return std::nullopt;
}

Result<WorkerProblem::Counted> WorkerProblem::count(int handle, int launches, uint64_t round_seed) {
  ASSAY_TRY(OpenKernel * kernel, kernel_at(handle));
  // A burst first, so that pools have their threads before these are counted.
  ASSAY_TRY(burst(handle, launches, round_seed).map([](const auto&) {}));
  Counted counted;
  counted.clock_hz = measure::measure_clock_hz();
  auto counters = measure::PerfCounters::open();
  const verify::FloatControl control = verify::FloatControl::read();
  while (counted.launches < launches) {
    ASSAY_TRY(line_up(*kernel, launches - counted.launches, next_seed()));
    const Status status = measure::count_launches(kernel->next, *stream_, counters);
    control.restore();
    clean_up(*kernel);
    ASSAY_TRY(status);
    counted.launches += static_cast<int>(kernel->next.size());
  }
  counted.events = counters.counts();
  return counted;
}

// Drops what the condition calls cold: constants, their panels, and under `cold` everything read.
void WorkerProblem::flush(size_t s, const std::vector<std::span<std::byte>>& panels) {
  const auto operands = problem_.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (measure::is_cold(operands[i], condition_) && sets_[s].data[i] != nullptr)
      measure::flush_from_caches({static_cast<const std::byte*>(sets_[s].data[i]),
                                  static_cast<size_t>(operands[i].span_bytes)});
  }
  if (s < panels.size()) measure::flush_from_caches(panels[s]);
}

Result<TimedOutput> WorkerProblem::timed_output(int handle, uint64_t choice) {
  ASSAY_TRY(OpenKernel * asked, kernel_at(handle));
  const OpenKernel& kernel = *asked;
  if (kernel.recent.empty()) return fail(ErrorCode::not_found, "no timed output");
  const RecentLaunches::Launch launch =
      kernel.at_stop.taken() ? kernel.looked : kernel.recent.surviving(kernel.outputs, choice);
  TimedOutput timed;
  timed.variation = launch.variation;
  timed.changed = kernel.at_stop.differs();
  ASSAY_TRY(timed.output.file, copy_out(kernel.buffers->at(launch.set % kernel.outputs)));
  return timed;
}

bool WorkerProblem::inputs_intact() {
  const auto operands = problem_.operands();
  const size_t varied = operation_.varied_operand(problem_);
  std::vector<std::byte> expected;
  for (const Set& set : sets_) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.data[i] == nullptr) continue;
      const std::span<const std::byte> bytes(static_cast<const std::byte*>(set.data[i]),
                                             static_cast<size_t>(operands[i].span_bytes));
      if (i == varied) {
        expected = pristine_varied_;
        operation_.vary(problem_, set.variation, pristine_varied_, expected);
        if (!std::ranges::equal(bytes, expected)) return false;
      } else if (fast_hash(bytes, seed_) !=
                 instances_.front().hashes[instances_.front().index[i]]) {
        return false;
      }
    }
  }
  return true;
}

std::string WorkerProblem::find_trespass(int handle) {
  const auto open = kernel_at(handle);
  if (!open) return {};
  const OpenKernel& kernel = **open;
  const auto trespass = kernel.buffers->find_trespass();
  if (!trespass) return {};
  return describe(*trespass, trespass->index < kernel.outputs ? "the output" : "the workspace");
}

std::string WorkerProblem::find_trespass_beside_inputs() {
  if (!rotation_ || !launched_) return {};
  launched_ = false;
  const auto trespass = rotation_->find_trespass();
  return trespass ? describe(*trespass, "an input") : std::string();
}

}  // namespace assay::sweep
