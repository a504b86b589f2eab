#include "assay/sweep/card_problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/random.h"
#include "assay/sweep/recent_launches.h"
#include "assay/verify/guard.h"

namespace assay::sweep {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr int kLeastSets = 4;
constexpr double kCacheMultiple = 3;  // Caches are hardly LRU; docs/method.md.
constexpr int kMostSets = 256;
// Each launch of a burst, and its lead-in, write an output of their own, as on the host
// (worker_problem.cc). A burst has as many launches as fit here.
constexpr size_t kOutputBytes = size_t{256} << 20;
constexpr size_t kLeastOutputs = 2;
constexpr size_t kWorkspaces = 4;
// Varying an operand costs a copy from the host: above this, one set of a burst is varied.
constexpr size_t kVariedEachLaunch = size_t{4} << 20;

bool reads(const Operand& operand) { return operand.access != Access::write; }

class CardPool : public Prepared {
 public:
  explicit CardPool(cuda::CudaDevice& device) : device_(device) {}
  Result<std::span<std::byte>> allocate(size_t bytes) override {
    ASSAY_TRY(auto buffer, device_.allocate(bytes, {}));
    buffers_.push_back(std::move(buffer));
    return std::span<std::byte>(static_cast<std::byte*>(buffers_.back()->data()), bytes);
  }

 private:
  cuda::CudaDevice& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

Result<UniqueFd> copy_out(std::span<const std::byte> bytes) {
  return create_sealed_memfd("assay-output", bytes);
}

}  // namespace

struct CardProblem::OpenKernel {
  Kernel kernel;
  std::unique_ptr<CardArena> buffers;  // Outputs, then workspaces.
  std::unique_ptr<CardPool> prepared;  // Outlives the plans that point into it.
  std::vector<Plan> plans;             // One per operand set.
  RecentLaunches recent;
  size_t outputs = kLeastOutputs;  // Launches go round them.
};

CardProblem::CardProblem(Problem problem, const Operation& operation, cuda::CudaDevice& device,
                         uint64_t seed)
    : problem_(std::move(problem)), operation_(operation), device_(device), seed_(seed) {
  for (size_t i = 0; i < problem_.operands().size(); ++i)
    if (problem_.operands()[i].access != Access::read) output_ = i;
}

CardProblem::~CardProblem() = default;

uint64_t CardProblem::next_seed() { return CounterRandom{seed_, 3}.bits(++seeds_used_); }

Result<std::unique_ptr<CardProblem>> CardProblem::create(
    Problem problem, cuda::CudaDevice& device, std::vector<std::vector<MappedFile>> instances,
    uint64_t seed) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  std::unique_ptr<CardProblem> card(new CardProblem(std::move(problem), *operation, device, seed));
  ASSAY_TRY(card->stream_, device.make_stream());
  ASSAY_TRY(auto gate, cuda::Gate::create(device.driver()));
  ASSAY_TRY(auto start, cuda::Event::create(device.driver()));
  ASSAY_TRY(auto end, cuda::Event::create(device.driver()));
  card->gate_ = std::make_unique<cuda::Gate>(std::move(gate));
  card->start_ = std::make_unique<cuda::Event>(std::move(start));
  card->end_ = std::make_unique<cuda::Event>(std::move(end));
  const auto operands = card->problem_.operands();
  for (auto& instance : instances) {
    if (instance.size() != operands.size())
      return fail(ErrorCode::internal, "an instance has {} operands, its problem {}",
                  instance.size(), operands.size());
    InputSet set;
    std::vector<size_t> sizes;
    for (size_t i = 0; i < operands.size(); ++i) {
      set.index.push_back(reads(operands[i]) ? sizes.size() : kNone);
      if (!reads(operands[i])) continue;
      if (instance[i].size() != static_cast<size_t>(operands[i].span_bytes))
        return fail(ErrorCode::internal, "operand {} has {} bytes, expected {}", operands[i].role,
                    instance[i].size(), operands[i].span_bytes);
      sizes.push_back(instance[i].size());
    }
    ASSAY_TRY(set.arena, CardArena::allocate(device, sizes, card->next_seed()));
    for (size_t i = 0; i < operands.size(); ++i)
      if (set.index[i] != kNone)
        ASSAY_TRY(device.copy_in(set.arena.at(set.index[i]).data, instance[i].bytes()));
    set.host = std::move(instance);
    card->instances_.push_back(std::move(set));
  }
  return card;
}

// One random word all over it: no value that a kernel would leave by chance.
Status CardProblem::fill(const CardArena::Piece& piece, uint64_t seed) {
  if (piece.bytes == 0) return {};
  const auto& driver = *device_.driver();
  const auto address = reinterpret_cast<cuda::abi::Address>(piece.data);
  const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
  const auto word = static_cast<unsigned>(CounterRandom{seed, 5}.bits(0));
  const size_t words = piece.bytes / 4;
  if (words > 0)
    ASSAY_TRY(driver.check(driver.call().fill_words(address, word, words, stream), "poisoning"));
  if (piece.bytes % 4 != 0)
    ASSAY_TRY(
        driver.check(driver.call().fill_bytes(address + words * 4, static_cast<unsigned char>(word),
                                              piece.bytes % 4, stream),
                     "poisoning"));
  return {};
}

Result<std::vector<std::byte>> CardProblem::read(const CardArena::Piece& piece) {
  std::vector<std::byte> bytes(piece.bytes);
  ASSAY_TRY(device_.copy_out(bytes, piece.data));
  return bytes;
}

Result<bool> CardProblem::holds(const void* data, std::span<const std::byte> expected) {
  constexpr size_t kAtOnce = size_t{16} << 20;
  std::vector<std::byte> part;
  for (size_t at = 0; at < expected.size(); at += kAtOnce) {
    part.resize(std::min(kAtOnce, expected.size() - at));
    ASSAY_TRY(device_.copy_out(part, static_cast<const std::byte*>(data) + at));
    if (std::memcmp(part.data(), expected.data() + at, part.size()) != 0) return false;
  }
  return true;
}

Result<ProvenLaunch> CardProblem::prove(const Kernel& kernel, const Artifact& artifact,
                                        size_t instance, bool repeat) {
  if (instance >= instances_.size()) return fail(ErrorCode::internal, "no instance {}", instance);
  InputSet& inputs = instances_[instance];
  const auto operands = problem_.operands();
  const auto output_bytes = static_cast<size_t>(operands[output_].span_bytes);
  const size_t sizes[] = {output_bytes, kernel.workspace_bytes(problem_, 1)};
  ASSAY_TRY(auto buffers, CardArena::allocate(device_, sizes, next_seed()));
  CardPool prepared(device_);
  Arguments arguments{problem_, {}};
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.data.push_back(inputs.index[i] == kNone ? buffers.at(0).data
                                                      : inputs.arena.at(inputs.index[i]).data);
  const std::span<std::byte> workspace(static_cast<std::byte*>(buffers.at(1).data),
                                       buffers.at(1).bytes);
  ASSAY_TRY(Plan plan, kernel.plan({arguments, artifact, device_, workspace, 1, &prepared}));

  ProvenLaunch proven;
  proven.launches = repeat ? 2 : 1;
  std::vector<std::byte> first, second;
  for (int launch = 0; launch < proven.launches; ++launch) {
    ASSAY_TRY(fill(buffers.at(0), next_seed()));
    ASSAY_TRY(fill(buffers.at(1), next_seed()));
    const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
    ASSAY_TRY(start_->record(stream));
    ASSAY_TRY(plan.launch(*stream_));
    ASSAY_TRY(end_->record(stream));
    ASSAY_TRY(stream_->synchronize());
    ASSAY_TRY(proven.launch_ns, end_->ns_since(*start_));
    ASSAY_TRY(auto output, read(buffers.at(0)));
    (launch == 0 ? first : second) = std::move(output);
  }
  bool known_same = false;
  if (repeat) {
    // Gaps between rows keep their poison, which differs between launches: only dense outputs can
    // be compared here.
    size_t elements = 1;
    for (const int64_t size : operands[output_].sizes) elements *= static_cast<size_t>(size);
    if (elements * static_cast<size_t>(size_bytes(operands[output_].dtype)) == output_bytes)
      known_same = proven.repeatable = first == second;
  }
  ASSAY_TRY(proven.trespass, buffers.find_trespass([](size_t index) {
    return std::string(index == 0 ? "the output" : "the workspace");
  }));
  if (proven.trespass.empty()) {
    ASSAY_TRY(proven.trespass,
              inputs.arena.find_trespass([](size_t) { return std::string("an input"); }));
  }
  for (size_t i = 0; i < operands.size() && !proven.inputs_changed; ++i) {
    if (inputs.index[i] == kNone) continue;
    ASSAY_TRY(const bool same,
              holds(inputs.arena.at(inputs.index[i]).data, inputs.host[i].bytes()));
    proven.inputs_changed = !same;
  }
  ASSAY_TRY(proven.output, copy_out(first));
  if (repeat && !known_same) {
    ASSAY_TRY(proven.second, copy_out(second));
  }
  return proven;
}

Status CardProblem::make_rotation(const measure::Condition& condition) {
  if (instances_.empty()) return fail(ErrorCode::internal, "no inputs to rotate");
  condition_ = condition;
  if (condition.cache == measure::Cache::warm)
    return fail(ErrorCode::unsupported, "cache=warm is not measured on a card");
  const auto operands = problem_.operands();
  double cold_bytes = 0, set_bytes = 0;
  for (const Operand& operand : operands) {
    if (reads(operand)) set_bytes += static_cast<double>(operand.span_bytes);
    if (measure::is_cold(operand, condition)) cold_bytes += static_cast<double>(operand.span_bytes);
  }
  int count = kLeastSets;
  if (cold_bytes > 0) {
    const double wanted =
        kCacheMultiple * static_cast<double>(device_.last_level_cache_bytes()) / cold_bytes;
    const double room = static_cast<double>(device_.memory_bytes()) / 4 / set_bytes;
    count = std::max(count, static_cast<int>(std::min({wanted + 1, room, double{kMostSets}})));
    if (count < wanted)
      cold_doubt_ = fmt::format("{} sets of operands are less than three times the cache", count);
  }
  count += count % 2;
  InputSet& source = instances_.front();
  std::vector<size_t> sizes;
  for (int s = 0; s < count; ++s)
    for (size_t i = 0; i < operands.size(); ++i)
      if (source.index[i] != kNone) sizes.push_back(source.arena.at(source.index[i]).bytes);
  ASSAY_TRY(auto arena, CardArena::allocate(device_, sizes, next_seed()));
  rotation_ = std::make_unique<CardArena>(std::move(arena));
  sets_.clear();
  size_t at = 0;
  for (int s = 0; s < count; ++s) {
    Set set;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (source.index[i] == kNone) {
        set.data.push_back(nullptr);
        continue;
      }
      ASSAY_TRY(device_.copy_in(rotation_->at(at).data, source.host[i].bytes()));
      set.data.push_back(rotation_->at(at++).data);
    }
    sets_.push_back(std::move(set));
  }
  const auto& driver = *device_.driver();
  return driver.check(driver.call().reset_persisting_l2(), "resetting persisting cache lines");
}

Result<ProblemRunner::Opened> CardProblem::open(const Kernel& kernel, const Artifact& artifact) {
  if (sets_.empty()) return fail(ErrorCode::internal, "no operand sets");
  auto opened = std::make_unique<OpenKernel>(OpenKernel{kernel, {}, {}, {}, {}, kLeastOutputs});
  Opened facts;
  facts.workspace_bytes = kernel.workspace_bytes(problem_, 1);
  const auto output_bytes = static_cast<size_t>(problem_.operands()[output_].span_bytes);
  size_t ring = std::clamp(kOutputBytes / std::max<size_t>(output_bytes, 1), kLeastOutputs,
                           std::max(kLeastOutputs, sets_.size()));
  while (sets_.size() % ring != 0) --ring;
  opened->outputs = ring;
  std::vector<size_t> sizes(ring, output_bytes);
  sizes.insert(sizes.end(), kWorkspaces, facts.workspace_bytes);
  ASSAY_TRY(auto buffers, CardArena::allocate(device_, sizes, next_seed()));
  opened->buffers = std::make_unique<CardArena>(std::move(buffers));
  opened->prepared = std::make_unique<CardPool>(device_);
  for (size_t s = 0; s < sets_.size(); ++s) {
    Arguments arguments{problem_, sets_[s].data};
    arguments.data[output_] = opened->buffers->at(s % ring).data;
    const CardArena::Piece& workspace = opened->buffers->at(ring + s % kWorkspaces);
    ASSAY_TRY(Plan plan, kernel.plan({arguments,
                                      artifact,
                                      device_,
                                      {static_cast<std::byte*>(workspace.data), workspace.bytes},
                                      1,
                                      opened->prepared.get()}));
    facts.prepared_bytes = plan.prepared_bytes();
    facts.prepare_seconds = plan.prepare_seconds();
    opened->plans.push_back(std::move(plan));
  }
  // The driver loads a kernel's code at its first launch, and waits for the card meanwhile: behind
  // a closed gate that would be for ever.
  ASSAY_TRY(opened->plans.front().launch(*stream_));
  ASSAY_TRY(stream_->synchronize());
  facts.handle = static_cast<int>(open_.size());
  open_.push_back(std::move(opened));
  return facts;
}

void CardProblem::close(int handle) {
  if (handle >= 0 && static_cast<size_t>(handle) < open_.size())
    open_[static_cast<size_t>(handle)].reset();
}

Status CardProblem::vary(Set& set, uint64_t seed) {
  const size_t operand = operation_.varied_operand(problem_);
  if (operand >= set.data.size()) return {};  // Everything is constant.
  const auto pristine = instances_.front().host[operand].bytes();
  varied_.resize(pristine.size());
  operation_.vary(problem_, seed, pristine, varied_);
  set.variation = seed;
  return device_.copy_in(set.data[operand], varied_);
}

Result<measure::Burst> CardProblem::burst(int handle, int launches, uint64_t round_seed) {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  OpenKernel& kernel = *open_[static_cast<size_t>(handle)];
  if (condition_.spacing == measure::Spacing::isolated) launches = 1;
  launches =
      std::clamp(launches, 1, static_cast<int>(std::min(sets_.size() / 2, kernel.outputs - 1)));
  const size_t operand = operation_.varied_operand(problem_);
  const bool each =
      operand < problem_.operands().size() &&
      static_cast<size_t>(problem_.operands()[operand].span_bytes) <= kVariedEachLaunch;
  std::vector<Plan*> plans;
  // The lead-in's set comes first; it is not timed.
  for (int l = -1; l < launches; ++l) {
    const size_t s = (cursor_ + static_cast<size_t>(l + 1)) % sets_.size();
    if (each || l == 0)
      ASSAY_TRY(vary(sets_[s],
                     CounterRandom{round_seed, cursor_}.bits(static_cast<uint64_t>(l + 1)) | 1));
    plans.push_back(&kernel.plans[s]);
    kernel.recent.add({s, sets_[s].variation});
  }
  cursor_ += static_cast<size_t>(launches) + 1;
  launched_ = true;

  const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
  const int64_t before = monotonic_ns();
  ASSAY_TRY(gate_->close(stream));
  Status status = plans.front()->launch(*stream_);
  if (status) status = start_->record(stream);
  for (size_t l = 1; status && l < plans.size(); ++l) status = plans[l]->launch(*stream_);
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

Result<TimedOutput> CardProblem::timed_output(int handle, uint64_t choice) {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return fail(ErrorCode::internal, "no open kernel {}", handle);
  const OpenKernel& kernel = *open_[static_cast<size_t>(handle)];
  if (kernel.recent.empty()) return fail(ErrorCode::not_found, "no timed output");
  const RecentLaunches::Launch launch = kernel.recent.surviving(kernel.outputs, choice);
  TimedOutput timed;
  timed.variation = launch.variation;
  ASSAY_TRY(const auto bytes, read(kernel.buffers->at(launch.set % kernel.outputs)));
  ASSAY_TRY(timed.output, copy_out(bytes));
  return timed;
}

bool CardProblem::inputs_intact() {
  const auto operands = problem_.operands();
  const size_t varied = operation_.varied_operand(problem_);
  for (const Set& set : sets_) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.data[i] == nullptr) continue;
      std::span<const std::byte> expected = instances_.front().host[i].bytes();
      if (i == varied) {
        varied_.resize(expected.size());
        operation_.vary(problem_, set.variation, expected, varied_);
        expected = varied_;
      }
      if (!holds(set.data[i], expected).value_or(false)) return false;
    }
  }
  return true;
}

std::string CardProblem::find_trespass(int handle) {
  if (handle < 0 || static_cast<size_t>(handle) >= open_.size() ||
      !open_[static_cast<size_t>(handle)])
    return {};
  OpenKernel& kernel = *open_[static_cast<size_t>(handle)];
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
