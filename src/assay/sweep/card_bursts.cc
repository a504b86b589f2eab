// Bursts of launches through the operand sets of a card (card_rotation.cc).
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/random.h"
#include "assay/sweep/card_launches.h"
#include "assay/sweep/card_open_kernel.h"
#include "assay/sweep/protocol.h"
#include "assay/verify/workspace.h"

namespace assay::sweep {
namespace {

// Each launch of a burst, and its lead-in, write an output of their own, as on the host
// (worker_problem.cc). A burst has as many launches as fit here.
constexpr size_t kOutputBytes = size_t{256} << 20;
constexpr size_t kWorkspaces = 4;
// Above this, one set of a burst is varied: it costs the card four times the reading of the
// operand.
constexpr size_t kVariedEachLaunch = size_t{64} << 20;

}  // namespace

Result<ProblemRunner::Opened> CardProblem::open(const Kernel& kernel, const Artifact& artifact) {
  if (sets_.empty()) return fail(ErrorCode::internal, "no operand sets");
  auto opened = std::make_unique<OpenKernel>(OpenKernel{kernel, {}, {}, {}, {}, kLeastOutputs});
  Opened facts;
  ASSAY_TRY(facts.workspace_bytes, verify::workspace_bytes(kernel, problem_, 1, device_));
  const auto output_bytes = static_cast<size_t>(problem_.operands()[output_].span_bytes);
  const size_t ring = count_outputs(sets_.size(), output_bytes, kOutputBytes);
  opened->outputs = ring;
  std::vector<size_t> sizes(ring, output_bytes);
  sizes.insert(sizes.end(), kWorkspaces, facts.workspace_bytes);
  ASSAY_TRY(auto buffers, CardArena::allocate(*zones_, sizes, next_seed()));
  opened->buffers = std::make_unique<CardArena>(std::move(buffers));
  opened->prepared = std::make_unique<CardPool>(device_);
  std::vector<std::span<std::byte>> packed;  // By place of the constants.
  for (size_t s = 0; s < sets_.size(); ++s) {
    Arguments arguments{problem_, sets_[s].data};
    arguments.data[output_] = opened->buffers->at(s % ring).data;
    const CardArena::Piece& workspace = opened->buffers->at(ring + s % kWorkspaces);
    ASSAY_TRY(Plan plan, kernel.plan({arguments,
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
  // The driver loads a kernel's code at its first launch, and waits for the card meanwhile: behind
  // a closed gate that would be for ever.
  ASSAY_TRY(opened->plans.front().launch(*stream_));
  ASSAY_TRY(stream_->synchronize());
  facts.launches = launches_of(device_, opened->plans.front().steps());
  facts.handle = static_cast<int>(open_.size());
  open_.push_back(std::move(opened));
  return facts;
}

Result<CardProblem::OpenKernel*> CardProblem::opened(int handle) const {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  return open_[static_cast<size_t>(handle)].get();
}

void CardProblem::close(int handle) {
  if (handle >= 0 && static_cast<size_t>(handle) < open_.size())
    open_[static_cast<size_t>(handle)].reset();
}

Status CardProblem::vary(Set& set, uint64_t seed) {
  const size_t operand = operation_.varied_operand(problem_);
  if (operand >= set.data.size()) return {};  // Everything is constant.
  set.variation = seed;
  if (condition_.cache == measure::Cache::warm)
    for (Set& sharer : sets_) sharer.variation = seed;
  return vary(set.staged != nullptr ? set.staged : set.data[operand], seed);
}

// The varied operand at `to`, which held it before: from the card's own copy, which is looked at
// with the sets (inputs_intact), and which the referee does not use.
Status CardProblem::vary(void* to, uint64_t seed) {
  const InputSet& inputs = instances_.front();
  const size_t operand = operation_.varied_operand(problem_);
  if (turning_ != nullptr) {
    const void* from = inputs.arena.at(inputs.index[operand]).data;
    for (const TurnedLines& lines : turning_->turned_lines(problem_, seed))
      ASSAY_TRY(turn_->turn(*stream_, from, to, lines));
    return {};
  }
  const auto pristine = inputs.host[operand].bytes();
  varied_.resize(pristine.size());
  operation_.vary(problem_, seed, pristine, varied_);
  return device_.copy_in(to, varied_);
}

// A kernel between a producer and a consumer; without a kernel, those two.
Status CardProblem::enqueue_link(size_t s, OpenKernel* kernel, const CardArena::Piece& output) {
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
Status CardProblem::enqueue(size_t s, OpenKernel* kernel, bool first) {
  if (condition_.spacing == measure::Spacing::chain)
    return enqueue_link(s, kernel,
                        kernel == nullptr ? bare_outputs_->at(s % bare_outputs_->count())
                                          : kernel->buffers->at(s % kernel->outputs));
  const bool dependent = !first && kernel->kernel.metadata().dependent_launch();
  return kernel->plans[s].launch(*stream_, dependent ? Dependency::programmatic : Dependency::full);
}

Result<measure::Burst> CardProblem::burst(int handle, int launches, uint64_t round_seed) {
  OpenKernel* kernel = nullptr;
  const bool bare = handle == kBareLinks && condition_.spacing == measure::Spacing::chain;
  if (!bare) {
    ASSAY_TRY(kernel, opened(handle));
  }
  if (condition_.spacing == measure::Spacing::isolated) launches = 1;
  const size_t outputs = kernel == nullptr ? sets_.size() : kernel->outputs;
  launches = std::clamp(launches, 1,
                        std::max(1, static_cast<int>(std::min(sets_.size() / 2, outputs - 1))));
  std::vector<size_t> order;  // The lead-in's set comes first; it is not timed.
  for (int l = 0; l <= launches; ++l)
    order.push_back((cursor_ + static_cast<size_t>(l)) % sets_.size());
  // Of bare links too: what they are taken off found its activations in the card's cache.
  ASSAY_TRY(freshen(order, round_seed));
  cursor_ += order.size();
  if (kernel != nullptr) {
    for (const size_t s : order) kernel->recent.add({s, sets_[s].variation});
    launched_ = true;
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
  Status status = enqueue(order.front(), kernel, true);
  if (status) status = start_->record(stream);
  if (status) status = graph ? graph->launch(*stream_) : timed();
  if (status) status = end_->record(stream);
  gate_->open();
  const Status ended = stream_->synchronize();
  if (!status) return fail(std::move(status).error());
  if (!ended) return fail(ended.error());
  ASSAY_TRY(const double ns, end_->ns_since(*start_));
  measure::Burst burst;
  burst.launches = launches;
  burst.ns = static_cast<int64_t>(std::llround(ns));
  // A card's own time cannot be longer than the host's around it.
  burst.clean = burst.ns > 0 && burst.ns <= monotonic_ns() - before;
  return burst;
}

// In slices, so that a block ends on time; what lies between them is not its.
Result<measure::Burst> CardProblem::block(int handle, double seconds) {
  constexpr double kSliceNs = 50e6;
  constexpr int kFirst = 4, kMost = 1 << 14;
  ASSAY_TRY(OpenKernel* const kernel, opened(handle));
  const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
  const bool dependent = kernel->kernel.metadata().dependent_launch();
  measure::Burst block;
  const int64_t start = monotonic_ns();
  for (int launches = kFirst; static_cast<double>(monotonic_ns() - start) < seconds * 1e9;) {
    ASSAY_TRY(start_->record(stream));
    for (int l = 0; l < launches; ++l) {
      const size_t s = cursor_++ % sets_.size();
      ASSAY_TRY(kernel->plans[s].launch(
          *stream_, l > 0 && dependent ? Dependency::programmatic : Dependency::full));
      kernel->recent.add({s, sets_[s].variation});
    }
    launched_ = true;
    ASSAY_TRY(end_->record(stream));
    ASSAY_TRY(stream_->synchronize());
    ASSAY_TRY(const double ns, end_->ns_since(*start_));
    block.ns += static_cast<int64_t>(std::llround(ns));
    block.launches += launches;
    const double wanted = kSliceNs * launches / std::max(ns, 1.0);
    launches = static_cast<int>(std::clamp(wanted, double{kFirst}, double{kMost}));
  }
  return block;
}

Status CardProblem::profile(int handle, int launches) {
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

// The cache as the condition has it, whatever ran before, and activations that no launch has seen,
// of each set or, where that costs much, of the first timed.
Status CardProblem::freshen(const std::vector<size_t>& order, uint64_t round_seed) {
  const size_t operand = operation_.varied_operand(problem_);
  const bool each =
      operand < problem_.operands().size() &&
      static_cast<size_t>(problem_.operands()[operand].span_bytes) <= kVariedEachLaunch;
  const CounterRandom random{round_seed, cursor_};
  if (condition_.cache == measure::Cache::cold_weights) ASSAY_TRY(clear_cache());
  if (condition_.cache == measure::Cache::warm) {
    ASSAY_TRY(vary(sets_.front(), random.bits(0) | 1));
  } else {
    for (size_t l = 0; l < order.size(); ++l)
      if (each || l == 1) ASSAY_TRY(vary(sets_[order[l]], random.bits(l) | 1));
  }
  if (condition_.cache == measure::Cache::cold) ASSAY_TRY(clear_cache());
  // A graph is recorded on an idle stream.
  return condition_.launch == measure::Launch::graph ? stream_->synchronize() : Status();
}

Result<TimedOutput> CardProblem::timed_output(int handle, uint64_t choice) {
  ASSAY_TRY(const OpenKernel* const open, opened(handle));
  const OpenKernel& kernel = *open;
  if (kernel.recent.empty()) return fail(ErrorCode::not_found, "no timed output");
  const RecentLaunches::Launch launch = kernel.recent.surviving(kernel.outputs, choice);
  TimedOutput timed;
  timed.variation = launch.variation;
  const CardArena::Piece& output = kernel.buffers->at(launch.set % kernel.outputs);
  if (by_card_) {
    // Nothing is launched until it was judged: it can be looked at where it is.
    ASSAY_TRY(timed.output.card, cuda::share(*device_.driver(), output.data, output.bytes));
  } else {
    ASSAY_TRY(timed.output, hand_out(output));
  }
  return timed;
}

bool CardProblem::inputs_intact() {
  const auto operands = problem_.operands();
  const size_t varied = operation_.varied_operand(problem_);
  const InputSet& inputs = instances_.front();
  const auto is_pristine = [&](const void* data, size_t operand) {
    const auto digest = digest_->of(*stream_, data, inputs.host[operand].size());
    return digest && *digest == inputs.digest[operand];
  };
  if (turning_ != nullptr && varied < operands.size() &&
      !is_pristine(inputs.arena.at(inputs.index[varied]).data, varied))
    return false;
  for (size_t s = 0; s < sets_.size(); ++s) {
    const Set& set = sets_[s];
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.data[i] == nullptr || (s >= places_ && is_shared(operands[i]))) continue;
      if (i == varied ? !is_varied(set.data[i], set.variation).value_or(false)
                      : !is_pristine(set.data[i], i))
        return false;
    }
  }
  return true;
}

// Whether the varied operand is at `data` as it was made there.
Result<bool> CardProblem::is_varied(const void* data, uint64_t seed) {
  const InputSet& inputs = instances_.front();
  const size_t operand = operation_.varied_operand(problem_);
  const std::span<const std::byte> pristine = inputs.host[operand].bytes();
  if (turning_ == nullptr) {
    varied_.resize(pristine.size());
    operation_.vary(problem_, seed, pristine, varied_);
    return holds(data, varied_);
  }
  if (!expected_) {
    ASSAY_TRY(expected_, device_.allocate(pristine.size(), {}));
  }
  const auto& driver = *device_.driver();
  ASSAY_TRY(driver.check(
      driver.call().copy_async(
          reinterpret_cast<cuda::abi::Address>(expected_->data()),
          reinterpret_cast<cuda::abi::Address>(inputs.arena.at(inputs.index[operand]).data),
          pristine.size(), static_cast<cuda::abi::Stream>(stream_->native())),
      "copying an operand"));
  ASSAY_TRY(vary(expected_->data(), seed));
  ASSAY_TRY(const uint64_t expected, digest_->of(*stream_, expected_->data(), pristine.size()));
  ASSAY_TRY(const uint64_t found, digest_->of(*stream_, data, pristine.size()));
  return expected == found;
}

std::string CardProblem::find_trespass(int handle) {
  const auto open = opened(handle);
  if (!open) return {};
  const OpenKernel& kernel = **open;
  return kernel.buffers
      ->find_trespass([&](size_t index) {
        return std::string(index < kernel.outputs ? "the output" : "the workspace");
      })
      .value_or("the card could not be read");
}

std::string CardProblem::find_trespass_beside_inputs() {
  if (!rotation_ || !launched_) return {};
  launched_ = false;
  return rotation_->find_trespass([](size_t) { return std::string("an input"); })
      .value_or("the card could not be read");
}

}  // namespace assay::sweep
