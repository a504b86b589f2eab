#include "assay/worker/cpu/problem.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/measure/flush.h"
#include "assay/process/set_turns.h"
#include "assay/verify/float_control.h"
#include "assay/verify/workspace.h"
#include "assay/worker/cpu/turn.h"
#include "assay/worker/input_places.h"
#include "assay/worker/manners.h"

namespace assay::sweep {
namespace {

// Each launch of a burst writes an output of its own, any of which may be looked at afterwards: no
// launch is one that a kernel can know to be overwritten. A burst has as many launches as fit here.
constexpr size_t kOutputBytes = size_t{1} << 20;
constexpr int kWorkspaceCopies = 4;
// Warm launches read the same operands and write as many outputs, each its own; a burst takes half.
constexpr size_t kWarmOutputs = 32;

std::string describe(const verify::GuardedArena::Trespass& trespass, std::string_view what) {
  return fmt::format("{} bytes written outside {} (first at byte {} of it)", trespass.changed, what,
                     trespass.byte);
}

Result<UniqueFd> copy_out(std::span<const std::byte> bytes) {
  return create_sealed_memfd("assay-output", bytes);
}

}  // namespace

WorkerProblem::WorkerProblem(Problem problem, Device& device, int threads, uint64_t seed)
    : problem_(std::move(problem)),
      device_(device),
      threads_(threads),
      seed_(seed),
      scatter_(
          fast_hash(std::as_bytes(std::span(&seed, 1)), static_cast<uint64_t>(monotonic_ns()))),
      outputs_(OutputPlaces::of(problem_)),
      gaps_(verify::OutputGaps::of(problem_)) {}

WorkerProblem::~WorkerProblem() = default;

uint64_t WorkerProblem::next_seed() { return CounterRandom{seed_, 3}.bits(++seeds_used_); }

Result<std::unique_ptr<WorkerProblem>> WorkerProblem::create(
    Problem problem, Device& device, int threads, std::vector<std::vector<MappedFile>> instances,
    uint64_t seed, const PulseSender& pulses) {
  std::unique_ptr<WorkerProblem> worker(
      new WorkerProblem(std::move(problem), device, threads, seed));
  worker->pulses_ = pulses;
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
  const size_t output_bytes = outputs_.bytes;
  ASSAY_TRY(const size_t workspace_bytes,
            verify::workspace_bytes(kernel, problem_, threads_, device_));
  const size_t sizes[] = {output_bytes, workspace_bytes};
  ASSAY_TRY(auto buffers, verify::GuardedArena::allocate(device_, sizes, next_seed()));
  PreparedPool prepared(device_, next_seed(), 1);

  Arguments arguments{problem_, {}};
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.data.push_back(inputs.index[i] == kNowhere ? nullptr
                                                         : inputs.arena.at(inputs.index[i]).data());
  const std::vector<void*> given = arguments.data;
  outputs_.set(arguments.data, buffers.at(0).data());
  ASSAY_TRY(
      Plan plan, watching(kernel, [&] {
        return kernel.plan({arguments, artifact, device_, buffers.at(1), threads_, &prepared});
      }));

  ProvenLaunch proven;
  proven.launches = repeat ? 2 : 1;
  std::vector<std::byte> first;
  const verify::FloatControl control = verify::FloatControl::read();
  bool known_same = false;
  for (int launch = 0; launch < proven.launches; ++launch) {
    verify::poison(buffers.at(0), next_seed());
    verify::poison(buffers.at(1), next_seed());
    outputs_.give(given, buffers.at(0).data());
    const uint64_t of_gaps = next_seed();
    gaps_.poison(buffers.at(0), of_gaps);
    const int64_t start = monotonic_ns();
    ASSAY_TRY(plan.launch(*stream_));
    ASSAY_TRY(stream_->synchronize());
    proven.launch_ns = static_cast<double>(monotonic_ns() - start);
    if (const auto change = gaps_.find_change(buffers.at(0), of_gaps))
      proven.trespass = change->text();
    if (!(verify::FloatControl::read() == control)) {
      proven.float_control_changed = true;
      control.restore();
    }
    if (launch == 0) {
      first.assign(buffers.at(0).begin(), buffers.at(0).end());
    } else if (has_dense_outputs(problem_)) {  // Of others the referee compares the values.
      known_same = proven.repeatable =
          std::ranges::equal(outputs_.split(first), outputs_.split(buffers.at(0)),
                             [](const auto& a, const auto& b) { return std::ranges::equal(a, b); });
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

Status WorkerProblem::make_rotation(const measure::Condition& condition, uint64_t key) {
  condition_ = condition;
  ASSAY_TRY(auto sets, OperandSets::create(problem_, device_, condition,
                                           {.key = key, .placement = next_seed()}));
  sets_ = std::make_unique<OperandSets>(std::move(sets));
  approach_.reset();
  if (sets_->flushes()) {
    ASSAY_TRY(approach_, Approach::create());
  }
  plans_ = is_warm() ? kWarmOutputs : sets_->count();
  turns_ = std::make_unique<SetTurns>(plans_);
  return {};
}

// Pools that packed would look like work behind a burst's end.
void WorkerProblem::pack_as_needed() {
  packs_as_needed_ = !is_warm() && threads_ == 1 && measure::flush_from_caches({});
}

void WorkerProblem::cool_copies() {
  if (sets_->flushes()) copies_ = std::make_unique<KeptCopies>(code_);
}

// Copies of a fourth of all sets, in half of the bits, may lie there before it is worth a look at
// every page. Workspaces are looked at if they have room for more.
void WorkerProblem::cool_what_is_kept() const {
  constexpr size_t kShare = 8, kLeast = size_t{1} << 16;
  if (!copies_) return;
  const size_t least = std::max(sets_->flushed_bytes() / kShare, kLeast);
  std::vector<KeptCopies::Bytes> others;
  for (const auto& open : open_) {
    if (!open) continue;
    for (size_t b = 0; b < open->buffers->count(); ++b)
      if (b < open->outputs || kWorkspaceCopies * open->workspace_bytes < least)
        others.emplace_back(open->buffers->at(b));
  }
  copies_->cool(others, least);
}

Result<WorkerProblem::Opened> WorkerProblem::open(const Kernel& kernel, const Artifact& artifact) {
  if (!sets_) return fail(ErrorCode::internal, "no operand sets");
  auto opened = std::make_unique<OpenKernel>(OpenKernel{.kernel = kernel, .artifact = artifact});
  ASSAY_TRY(opened->workspace_bytes, verify::workspace_bytes(kernel, problem_, threads_, device_));
  const size_t output_bytes = outputs_.bytes;
  const size_t ring = count_outputs(plans_, output_bytes, kOutputBytes);
  opened->outputs = ring;
  std::vector<size_t> sizes(ring, output_bytes);
  sizes.insert(sizes.end(), kWorkspaceCopies, opened->workspace_bytes);
  ASSAY_TRY(auto buffers, verify::GuardedArena::allocate(device_, sizes, next_seed()));
  opened->buffers = std::make_unique<verify::GuardedArena>(std::move(buffers));
  // Its pages are there before the first burst, and no earlier kernel's result is.
  opened->gaps_seed = next_seed();
  for (size_t o = 0; o < ring; ++o) {
    verify::poison(opened->buffers->at(o), next_seed());
    gaps_.poison(opened->buffers->at(o), opened->gaps_seed);
  }
  const std::string layout = kernel.prepared_layout(problem_);
  const std::string shared = layout.empty() ? layout
                                            : kernel.metadata().provider() + "/" +
                                                  kernel.metadata().family() + "/" + layout;
  if (!shared.empty()) opened->panels = panels_[shared].lock();
  if (!opened->panels) {
    opened->panels =
        std::make_shared<Panels>(Panels{PreparedPool(device_, next_seed(), sets_->count()), {}});
    opened->panels->sets.resize(sets_->count());
    if (!shared.empty()) panels_[shared] = opened->panels;
  }
  opened->plans.resize(plans_);
  ASSAY_TRY(watching(kernel, [&]() -> Status {
    for (size_t plan = 0; plan < (packs_as_needed_ ? 1 : plans_); ++plan)
      ASSAY_TRY(bind(*opened, plan));
    return {};
  }));
  Opened facts;
  facts.workspace_bytes = opened->workspace_bytes;
  facts.prepared_bytes = opened->plans.front()->prepared_bytes();
  facts.prepare_seconds = opened->panels->prepare_seconds;
  facts.handle = static_cast<int>(open_.size());
  for (size_t o = 0; o < ring; ++o)
    facts.outputs.push_back(reinterpret_cast<uint64_t>(opened->buffers->at(o).data()));
  open_.push_back(std::move(opened));
  return facts;
}

Status WorkerProblem::bind(OpenKernel& kernel, size_t plan) {
  if (kernel.plans[plan]) return {};
  const size_t set = set_of(plan);
  const auto data = sets_->data(set);
  Arguments arguments{problem_, {data.begin(), data.end()}};
  outputs_.set(arguments.data, kernel.buffers->at(plan % kernel.outputs).data());
  const auto workspace = kernel.buffers->at(kernel.outputs + plan % kWorkspaceCopies);
  std::span<std::byte>& panels = kernel.panels->sets[set];
  const bool packed = !panels.empty();
  ASSAY_TRY(kernel.plans[plan], kernel.kernel.plan({arguments, kernel.artifact, device_, workspace,
                                                    threads_, &kernel.panels->pool, panels}));
  if (packed) return {};
  kernel.panels->prepare_seconds = kernel.plans[plan]->prepare_seconds();
  if (kernel.plans[plan]->prepared_bytes() > 0)
    panels = {static_cast<std::byte*>(kernel.plans[plan]->data().back()),
              kernel.plans[plan]->prepared_bytes()};
  if (packs_as_needed_ && !panels.empty()) sets_->make_cold(set, panels);
  return {};
}

void WorkerProblem::close(int handle) {
  if (handle >= 0 && static_cast<size_t>(handle) < open_.size())
    open_[static_cast<size_t>(handle)].reset();
}

ConstantBytes WorkerProblem::constants() const {
  ConstantBytes constants = {bytes_of(problem_),      bytes_of(threads_), bytes_of(seed_),
                             bytes_of(outputs_),      bytes_of(stream_),  bytes_of(condition_),
                             bytes_of(sets_),         bytes_of(turns_),   bytes_of(copies_),
                             bytes_of(plans_),        bytes_of(open_),    bytes_of(pulses_),
                             measure::flush_setting()};
  const auto add = [&](const ConstantBytes& more) {
    constants.insert(constants.end(), more.begin(), more.end());
  };
  add(sets_->constants());
  add({std::as_bytes(std::span(open_)), std::as_bytes(std::span(outputs_.places))});
  for (const auto& open : open_)
    if (open)
      add({bytes_of(open->buffers), bytes_of(open->panels), bytes_of(open->panels->sets),
           std::as_bytes(std::span(open->panels->sets)), bytes_of(open->plans),
           bytes_of(open->workspace_bytes), bytes_of(open->outputs)});
  return constants;
}

bool WorkerProblem::at_rest() { return watch_.wait_until_quiet(kRestNs); }

bool WorkerProblem::has_left_processes() { return has_children(); }

Result<WorkerProblem::OpenKernel*> WorkerProblem::kernel_at(int handle) {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  return open_[static_cast<size_t>(handle)].get();
}

Result<WorkerProblem::TimedBurst> WorkerProblem::burst(int handle, int launches,
                                                       uint64_t round_seed) {
  ASSAY_TRY(OpenKernel * kernel, kernel_at(handle));
  TimedBurst burst;
  measure::BurstLimits limits;
  limits.threads = threads_;
  limits.own_wait_ns = kernel->own_waits.usual_ns(launches);
  Turn turn(*this, *kernel, launches, round_seed);
  ASSAY_TRY(turn.bind());
  const verify::FloatControl control = verify::FloatControl::read();
  auto timed = measure::time_burst(turn, *stream_, watch_, limits, pulses_);
  control.restore();
  ASSAY_TRY(static_cast<measure::Burst&>(burst), std::move(timed));
  burst.approach_ns = turn.approach_ns();
  kernel->own_waits.add(burst.waited_ns, burst.launches);
  if (!std::exchange(kernel->has_run, true)) code_.take();
  if (last_ >= 0) burst.others_since_ns = burst.others_at_rest_ns - others_at_last_end_ns_;
  // Warm operands are made so by a launch ahead of the clock, in which pools work, and come to
  // rest.
  if (is_warm() && threads_ > 1) burst.others_ahead_ns = 0;
  others_at_last_end_ns_ = burst.others_at_end_ns;
  last_ = handle;
  return burst;
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
    Turn turn(*this, *kernel, launches - counted.launches, next_seed());
    ASSAY_TRY(turn.bind());
    const auto count = measure::count_burst(turn, *stream_, counters);
    control.restore();
    if (!count) return fail(count.error());
    counted.launches += *count;
  }
  counted.events = counters.counts();
  return counted;
}

Result<TimedOutput> WorkerProblem::timed_output(int handle, uint64_t choice) {
  ASSAY_TRY(OpenKernel * asked, kernel_at(handle));
  TimedOutput timed;
  ASSAY_TRY(timed.output.file, copy_out(asked->buffers->at(choice % asked->outputs)));
  return timed;
}

bool WorkerProblem::inputs_intact() { return !sets_ || sets_->intact(); }

std::string WorkerProblem::find_trespass(int handle) {
  const auto open = kernel_at(handle);
  if (!open) return {};
  const OpenKernel& kernel = **open;
  if (const auto trespass = kernel.buffers->find_trespass())
    return describe(*trespass, trespass->index < kernel.outputs ? "the output" : "the workspace");
  for (size_t o = 0; o < kernel.outputs && !gaps_.empty(); ++o)
    if (const auto change = gaps_.find_change(kernel.buffers->at(o), kernel.gaps_seed))
      return change->text();
  return {};
}

std::string WorkerProblem::find_trespass_beside_inputs() {
  if (!sets_ || !launched_) return {};
  launched_ = false;
  const auto trespass = sets_->find_trespass();
  return trespass ? describe(*trespass, "an input") : std::string();
}

}  // namespace assay::sweep
