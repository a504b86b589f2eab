// Bursts of launches through the operand sets of a GPU (worker/gpu/rotation.cc).
#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/random.h"
#include "assay/verify/workspace.h"
#include "assay/worker/gpu/launches.h"
#include "assay/worker/gpu/open_kernel.h"
#include "assay/worker/input_places.h"

namespace assay::sweep {
namespace {

// Each launch of a burst, and its lead-in, write an output of their own, as on the host
// (worker/cpu/problem.cc). A burst has as many launches as fit here.
constexpr size_t kRingBytes = size_t{256} << 20;
constexpr size_t kWorkspaces = 4;
}  // namespace

Result<ProblemRunner::Opened> GpuProblem::open(const Kernel& kernel, const Artifact& artifact) {
  if (sets_.empty()) return fail(ErrorCode::internal, "no operand sets");
  auto opened = std::make_unique<OpenKernel>(OpenKernel{kernel, {}, {}, {}, {}, kLeastOutputs});
  Opened facts;
  ASSAY_TRY(facts.workspace_bytes, verify::workspace_bytes(kernel, problem_, 1, device_));
  const size_t output_bytes = outputs_.bytes;
  const size_t ring = count_outputs(sets_.size(), output_bytes, kRingBytes);
  opened->outputs = ring;
  std::vector<size_t> sizes(ring, output_bytes);
  sizes.insert(sizes.end(), kWorkspaces, facts.workspace_bytes);
  ASSAY_TRY(auto buffers, GpuArena::allocate(*zones_, sizes, next_seed()));
  opened->buffers = std::make_unique<GpuArena>(std::move(buffers));
  opened->prepared = std::make_unique<GpuPool>(device_);
  std::vector<std::span<std::byte>> packed;  // By place of the constants.
  const auto bind = [&]() -> Status {
    for (size_t s = 0; s < sets_.size(); ++s) {
      Arguments arguments{problem_, sets_[s].data};
      outputs_.set(arguments.data, opened->buffers->at(s % ring).data);
      const GpuArena::Piece& workspace = opened->buffers->at(ring + s % kWorkspaces);
      ASSAY_TRY(Plan plan,
                kernel.plan({arguments,
                             artifact,
                             device_,
                             {static_cast<std::byte*>(workspace.data), workspace.bytes},
                             1,
                             opened->prepared.get(),
                             s < places_ ? std::span<std::byte>() : packed[s % places_]}));
      if (s < places_) {
        packed.push_back({static_cast<std::byte*>(plan.data().back()), plan.prepared_bytes()});
        facts.prepared_bytes = plan.prepared_bytes();
        facts.prepare_seconds = plan.prepare_seconds();
      }
      opened->plans.push_back(std::move(plan));
    }
    // The driver loads a kernel's code at its first launch, and waits for the GPU meanwhile:
    // behind a closed gate that would be for ever.
    ASSAY_TRY(opened->plans.front().launch(*stream_));
    return stream_->synchronize();
  };
  ASSAY_TRY(watching(kernel, bind));
  facts.launches = launches_of(device_, opened->plans.front().steps());
  facts.handle = static_cast<int>(open_.size());
  open_.push_back(std::move(opened));
  return facts;
}

Result<GpuProblem::OpenKernel*> GpuProblem::opened(int handle) const {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  return open_[static_cast<size_t>(handle)].get();
}

void GpuProblem::close(int handle) {
  if (handle >= 0 && static_cast<size_t>(handle) < open_.size())
    open_[static_cast<size_t>(handle)].reset();
}

Status GpuProblem::renew(void* to, size_t operand, const InputSeeds& seeds) {
  const Renewal renewal = operation_.renewal(problem_, operand, seeds);
  if (renewal_ != nullptr) return renewal_->renew(*stream_, to, renewal);
  const auto pristine = instances_.front().host[operand].bytes();
  made_.assign(pristine.begin(), pristine.end());
  assay::renew(renewal, made_);
  ASSAY_TRY(stream_->synchronize());
  return device_.copy_in(to, made_);
}

// What varies; in a chain the first of it where the producer reads it.
Status GpuProblem::renew(size_t index, uint64_t launch) {
  Set& set = sets_[index];
  set.launch = last_seed_ = launch;
  const size_t produced = set.staged != nullptr ? operation_.varied_operand(problem_) : kNowhere;
  for (size_t i = 0; i < set.data.size(); ++i)
    if (varies(problem_.operands()[i]))
      ASSAY_TRY(renew(i == produced ? set.staged : set.data[i], i, seeds_of(index, launch)));
  return {};
}

// A kernel between a producer and a consumer; without a kernel, those two.
Status GpuProblem::enqueue_link(size_t s, OpenKernel* kernel, const GpuArena::Piece& output) {
  const size_t produced = operation_.varied_operand(problem_);
  const bool dependent = kernel != nullptr && kernel->kernel.metadata().dependent_launch();
  ASSAY_TRY(chain_->produce(*stream_, sets_[s].data[produced], sets_[s].staged,
                            static_cast<size_t>(problem_.operands()[produced].span_bytes)));
  if (kernel != nullptr)
    ASSAY_TRY(
        kernel->plans[s].launch(*stream_, dependent ? Dependency::programmatic : Dependency::full));
  return chain_->consume(*stream_, output.data, output.bytes, dependent);
}

// The launch with operand set s. first: nothing of its kind is right ahead of it.
Status GpuProblem::enqueue(size_t s, OpenKernel* kernel, bool first) {
  if (condition_.spacing == measure::Spacing::chain)
    return enqueue_link(s, kernel,
                        kernel == nullptr ? bare_outputs_->at(s % bare_outputs_->count())
                                          : kernel->buffers->at(s % kernel->outputs));
  const bool dependent = !first && kernel->kernel.metadata().dependent_launch();
  return kernel->plans[s].launch(*stream_, dependent ? Dependency::programmatic : Dependency::full);
}

Result<GpuProblem::TimedBurst> GpuProblem::burst(int handle, int launches, uint64_t) {
  OpenKernel* kernel = nullptr;
  const bool bare = handle == process::kBareLinks && condition_.spacing == measure::Spacing::chain;
  if (!bare) {
    ASSAY_TRY(kernel, opened(handle));
  }
  if (condition_.spacing == measure::Spacing::isolated || is_alone()) launches = 1;
  const std::vector<size_t> order =
      choose_sets(launches, kernel == nullptr ? sets_.size() : kernel->outputs);
  launches = static_cast<int>(order.size()) - 1;
  // Of bare links too: what they are taken off found its activations in the GPU's cache.
  ASSAY_TRY(freshen(order, kernel));
  if (is_alone()) {
    ASSAY_TRY(enqueue(order.front(), kernel, true));
    ASSAY_TRY(freshen(order.back(), kernel));
  }

  const auto timed = [&]() -> Status {
    for (size_t l = 1; l < order.size(); ++l) ASSAY_TRY(enqueue(order[l], kernel, l == 1));
    return {};
  };
  std::optional<cuda::Graph> graph;
  if (condition_.launch == measure::Launch::graph) {
    ASSAY_TRY(auto captured, cuda::Graph::capture(device_.driver(), *stream_, timed));
    graph.emplace(std::move(captured));
  }
  const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
  const int64_t before = monotonic_ns();
  ASSAY_TRY(gate_->close(stream));
  Status status;
  if (!is_alone()) status = enqueue(order.front(), kernel, true);
  if (status) status = start_->record(stream);
  if (status) status = graph ? graph->launch(*stream_) : timed();
  if (status) status = end_->record(stream);
  gate_->open();
  const Status ended = stream_->synchronize();
  if (!status) return fail(std::move(status).error());
  if (!ended) return fail(ended.error());
  if (kernel != nullptr) {
    for (const size_t s : order) kernel->recent.add({s, sets_[s].launch});
    launched_ = true;
  }
  ASSAY_TRY(const double ns, end_->ns_since(*start_));
  TimedBurst burst;
  burst.launches = launches;
  burst.ns = static_cast<int64_t>(std::llround(ns));
  // A GPU's own time cannot be longer than the host's around it.
  burst.clean = burst.ns > 0 && burst.ns <= monotonic_ns() - before;
  return burst;
}

// Passes through the sets, each on numbers of its own; what lies between them is not a block's.
Result<measure::Burst> GpuProblem::block(int handle, double seconds) {
  ASSAY_TRY(OpenKernel* const kernel, opened(handle));
  const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
  const bool dependent = kernel->kernel.metadata().dependent_launch();
  measure::Burst block;
  const int64_t start = monotonic_ns();
  while (static_cast<double>(monotonic_ns() - start) < seconds * 1e9) {
    for (size_t s = 0; s < sets_.size(); ++s) ASSAY_TRY(freshen(s, kernel));
    ASSAY_TRY(start_->record(stream));
    for (size_t s = 0; s < sets_.size(); ++s)
      ASSAY_TRY(kernel->plans[s].launch(
          *stream_, s > 0 && dependent ? Dependency::programmatic : Dependency::full));
    launched_ = true;
    ASSAY_TRY(end_->record(stream));
    ASSAY_TRY(stream_->synchronize());
    ASSAY_TRY(const double ns, end_->ns_since(*start_));
    block.ns += static_cast<int64_t>(std::llround(ns));
    block.launches += static_cast<int>(sets_.size());
  }
  // In a chain a set's activations are where its producer reads them, not where these launches did.
  kernel->recent = {};
  return block;
}

Status GpuProblem::profile(int handle, int launches) {
  ASSAY_TRY(OpenKernel* const kernel, opened(handle));
  const cuda::Driver& driver = *device_.driver();
  // open() launched the first set's.
  for (int l = 1; l <= launches; ++l) {
    ASSAY_TRY(stream_->synchronize());
    ASSAY_TRY(driver.profile(true));
    const Status launched =
        kernel->plans[static_cast<size_t>(l) % sets_.size()].launch(*stream_, Dependency::full);
    const Status ended = stream_->synchronize();
    ASSAY_TRY(driver.profile(false));
    ASSAY_TRY(launched);
    ASSAY_TRY(ended);
  }
  return {};
}

// The lead-in's set, then those of `launches` others, or of as many as have different outputs:
// constants that have rested, and which of them nobody knows before.
std::vector<size_t> GpuProblem::choose_sets(int launches, size_t outputs) {
  const size_t most = std::max<size_t>(1, std::min(sets_.size() / 2, outputs - 1));
  const size_t wanted = std::clamp<size_t>(static_cast<size_t>(std::max(1, launches)), 1, most) + 1;
  std::vector<size_t> order;
  std::vector<bool> used(sets_.size()), written(outputs);
  const auto find_at = [&](size_t place, size_t first) {
    for (size_t j = 0; j < sets_.size() / places_; ++j) {
      const size_t s = (place + (first + j) * places_) % sets_.size();
      if (!used[s] && !written[s % outputs]) return s;
    }
    return kNowhere;
  };
  while (order.size() < wanted) {
    size_t found = kNowhere;
    const uint64_t random = next_seed();
    for (const size_t place : turns_->rested(random)) {
      found = find_at(place, random % sets_.size());
      if (found == kNowhere) continue;
      turns_->use(place);
      break;
    }
    if (found == kNowhere) break;
    used[found] = true;
    written[found % outputs] = true;
    order.push_back(found);
  }
  return order;
}

// Numbers that no launch has seen, also where the kernel reads them in its outputs.
Status GpuProblem::freshen(size_t set, OpenKernel* kernel) {
  ASSAY_TRY(renew(set, next_seed() | 1));
  if (kernel == nullptr) return {};
  return give(sets_[set].data, kernel->buffers->at(set % kernel->outputs));
}

// The cache as the condition has it, whatever ran before.
Status GpuProblem::freshen(const std::vector<size_t>& order, OpenKernel* kernel) {
  if (condition_.cache == measure::Cache::cold_weights) ASSAY_TRY(clear_cache());
  for (const size_t s : std::span(order).first(is_alone() ? 1 : order.size()))
    ASSAY_TRY(freshen(s, kernel));
  if (condition_.cache == measure::Cache::cold) ASSAY_TRY(clear_cache());
  // A graph is recorded on an idle stream.
  return condition_.launch == measure::Launch::graph ? stream_->synchronize() : Status();
}

Result<TimedOutput> GpuProblem::timed_output(int handle, uint64_t choice) {
  ASSAY_TRY(const OpenKernel* const open, opened(handle));
  const OpenKernel& kernel = *open;
  if (kernel.recent.empty()) return fail(ErrorCode::not_found, "no timed output");
  const RecentLaunches::Launch launch = kernel.recent.surviving(kernel.outputs, choice);
  TimedOutput timed;
  timed.set = numbers_of(launch.set);
  timed.launch = launch.launch;
  const GpuArena::Piece& output = kernel.buffers->at(launch.set % kernel.outputs);
  if (by_gpu_) {
    // Nothing is launched until it was judged: it can be looked at where it is.
    ASSAY_TRY(timed.output.gpu, cuda::share(*device_.driver(), output.data, output.bytes));
  } else {
    ASSAY_TRY(timed.output, hand_out(output));
  }
  return timed;
}

bool GpuProblem::inputs_intact() {
  const auto operands = problem_.operands();
  for (size_t s = 0; s < sets_.size(); ++s) {
    const Set& set = sets_[s];
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.data[i] == nullptr || (s >= places_ && is_shared(i))) continue;
      if (!varies(operands[i])) {
        const auto digest = digest_->of(*stream_, set.data[i], instances_.front().host[i].size());
        if (!digest || *digest != set.digest[i]) return false;
        continue;
      }
      const uint64_t launch = is_shared(i) ? last_seed_ : set.launch;
      if (launch != 0 && !is_renewed(set.data[i], i, seeds_of(s, launch)).value_or(false))
        return false;
    }
  }
  return true;
}

// Whether an operand that varies is at `data` as that seed makes it, and as the instance between
// strided elements.
Result<bool> GpuProblem::is_renewed(const void* data, size_t operand, const InputSeeds& seeds) {
  const std::span<const std::byte> pristine = instances_.front().host[operand].bytes();
  if (renewal_ == nullptr) {
    made_.assign(pristine.begin(), pristine.end());
    assay::renew(operation_.renewal(problem_, operand, seeds), made_);
    return holds(data, made_);
  }
  ASSAY_TRY(const auto expected, device_.allocate(pristine.size(), {}));
  ASSAY_TRY(device_.copy_in(expected->data(), pristine));
  const auto& driver = *device_.driver();
  ASSAY_TRY(driver.check(driver.call().context_synchronize(), "waiting for copies to the GPU"));
  ASSAY_TRY(renew(expected->data(), operand, seeds));
  ASSAY_TRY(const uint64_t made, digest_->of(*stream_, expected->data(), pristine.size()));
  ASSAY_TRY(const uint64_t found, digest_->of(*stream_, data, pristine.size()));
  return made == found;
}

std::string GpuProblem::find_trespass(int handle) {
  const auto open = opened(handle);
  if (!open) return {};
  const OpenKernel& kernel = **open;
  return kernel.buffers
      ->find_trespass([&](size_t index) {
        return std::string(index < kernel.outputs ? "the output" : "the workspace");
      })
      .value_or("the GPU could not be read");
}

std::string GpuProblem::find_trespass_beside_inputs() {
  if (!rotation_ || !launched_) return {};
  launched_ = false;
  return rotation_->find_trespass([](size_t) { return std::string("an input"); })
      .value_or("the GPU could not be read");
}

}  // namespace assay::sweep
