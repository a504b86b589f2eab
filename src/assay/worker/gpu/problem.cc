#include "assay/worker/gpu/problem.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "assay/base/random.h"
#include "assay/verify/guard.h"
#include "assay/verify/output_gaps.h"
#include "assay/verify/workspace.h"
#include "assay/worker/gpu/open_kernel.h"
#include "assay/worker/input_places.h"

namespace assay::sweep {
namespace {

constexpr double kLateFactor = 2;      // Of a kernel's run: how long its inputs are held back,
constexpr double kLateSlackNs = 50e3;  // besides this,
constexpr double kMostLateNs = 200e6;  // and at most so long.

}  // namespace

GpuProblem::GpuProblem(Problem problem, const Operation& operation, cuda::CudaDevice& device,
                       uint64_t seed)
    : problem_(std::move(problem)),
      operation_(operation),
      device_(device),
      seed_(seed),
      outputs_(OutputPlaces::of(problem_)) {}

GpuProblem::~GpuProblem() = default;

uint64_t GpuProblem::next_seed() { return CounterRandom{seed_, 3}.bits(++seeds_used_); }

Result<std::unique_ptr<GpuProblem>> GpuProblem::create(
    Problem problem, cuda::CudaDevice& device, std::vector<std::vector<MappedFile>> instances,
    uint64_t seed) {
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  std::unique_ptr<GpuProblem> gpu(new GpuProblem(std::move(problem), *operation, device, seed));
  ASSAY_TRY(gpu->stream_, device.make_stream());
  ASSAY_TRY(auto gate, cuda::Gate::create(device.driver()));
  ASSAY_TRY(auto start, cuda::Event::create(device.driver()));
  ASSAY_TRY(auto end, cuda::Event::create(device.driver()));
  gpu->gate_ = std::make_unique<cuda::Gate>(std::move(gate));
  gpu->start_ = std::make_unique<cuda::Event>(std::move(start));
  gpu->end_ = std::make_unique<cuda::Event>(std::move(end));
  ASSAY_TRY(gpu->digest_, GpuDigest::create(device, gpu->next_seed()));
  ASSAY_TRY(gpu->zones_, GpuZones::create(device, *gpu->stream_));
  auto renewal = GpuRenewal::create(device);
  if (renewal)
    gpu->renewal_ = std::move(*renewal);
  else if (renewal.error().code != ErrorCode::unsupported)
    return fail(std::move(renewal).error());
  const auto operands = gpu->problem_.operands();
  for (auto& instance : instances) {
    ASSAY_TRY(InputPlaces places, place_inputs(gpu->problem_, instance));
    InputSet set;
    ASSAY_TRY(set.arena, GpuArena::allocate(*gpu->zones_, places.sizes, gpu->next_seed()));
    set.index = std::move(places.index);
    set.digest.resize(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      if (set.index[i] != kNowhere)
        ASSAY_TRY(device.copy_in(set.arena.at(set.index[i]).data, instance[i].bytes()));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (set.index[i] == kNowhere) continue;
      const GpuArena::Piece& piece = set.arena.at(set.index[i]);
      ASSAY_TRY(set.digest[i], gpu->digest_->of(*gpu->stream_, piece.data, piece.bytes));
    }
    set.host = std::move(instance);
    gpu->instances_.push_back(std::move(set));
  }
  return gpu;
}

// One random word all over it: no value that a kernel would leave by chance.
Status GpuProblem::fill(const GpuArena::Piece& piece, uint64_t seed) {
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

Status GpuProblem::give(std::span<void* const> from, const GpuArena::Piece& output) {
  const cuda::Driver& driver = *device_.driver();
  for (const OutputPlaces::Place& place : outputs_.places) {
    if (!place.read) continue;
    const auto* to = static_cast<const std::byte*>(output.data) + place.offset;
    ASSAY_TRY(driver.check(
        driver.call().copy_async(reinterpret_cast<cuda::abi::Address>(to),
                                 reinterpret_cast<cuda::abi::Address>(from[place.operand]),
                                 place.bytes, static_cast<cuda::abi::Stream>(stream_->native())),
        "putting inputs where outputs are"));
  }
  return {};
}

Result<std::vector<std::byte>> GpuProblem::read(const GpuArena::Piece& piece) {
  std::vector<std::byte> bytes(piece.bytes);
  ASSAY_TRY(device_.copy_out(bytes, piece.data));
  return bytes;
}

Result<bool> GpuProblem::holds(const void* data, std::span<const std::byte> expected) {
  constexpr size_t kAtOnce = size_t{16} << 20;
  std::vector<std::byte> part;
  for (size_t at = 0; at < expected.size(); at += kAtOnce) {
    part.resize(std::min(kAtOnce, expected.size() - at));
    ASSAY_TRY(device_.copy_out(part, static_cast<const std::byte*>(data) + at));
    if (std::memcmp(part.data(), expected.data() + at, part.size()) != 0) return false;
  }
  return true;
}

// In a chain whose producer holds an input back for longer than the kernel's whole run, and the
// rest of the GPU lies idle meanwhile: whoever does not wait reads what was there before. Each
// input that is no constant is the late one once; output and workspace are used again as they are
// left, but for what is read there.
Status GpuProblem::launch_late(Plan& plan, InputSet& inputs, std::span<void* const> given,
                               const GpuArena::Piece& output, double launch_ns) {
  if (!chain_) {
    ASSAY_TRY(chain_, GpuChain::create(device_));
  }
  const GpuChain::Hold hold{
      static_cast<uint64_t>(std::min(kLateFactor * launch_ns + kLateSlackNs, kMostLateNs))};
  const auto operands = problem_.operands();
  const auto* driver = device_.driver().get();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (inputs.index[i] == kNowhere || operands[i].lifetime == Lifetime::constant) continue;
    GpuArena::Piece late = inputs.arena.at(inputs.index[i]);
    for (const OutputPlaces::Place& place : outputs_.places)
      if (place.operand == i) late.data = static_cast<std::byte*>(output.data) + place.offset;
    ASSAY_TRY(const auto kept, device_.allocate(late.bytes, {}));
    ASSAY_TRY(device_.copy_in(kept->data(), inputs.host[i].bytes()));
    ASSAY_TRY(give(given, output));
    // The host could be slower than the producer waits.
    ASSAY_TRY(gate_->close(static_cast<cuda::abi::Stream>(stream_->native())));
    const auto enqueue = [&]() -> Status {
      ASSAY_TRY(fill(late, next_seed()));
      ASSAY_TRY(chain_->produce(*stream_, late.data, kept->data(), late.bytes, hold));
      ASSAY_TRY(plan.launch(*stream_, Dependency::programmatic));
      return chain_->consume(*stream_, output.data, output.bytes, true);
    };
    const Status enqueued = enqueue();
    gate_->open();
    const Status ended = stream_->synchronize();
    ASSAY_TRY(enqueued);
    ASSAY_TRY(ended);
    // The producer's memory goes now: it must be done, whatever ran ahead of it.
    ASSAY_TRY(driver->check(driver->call().context_synchronize(), "waiting for the GPU"));
  }
  return {};
}

Result<ProvenLaunch> GpuProblem::prove(const Kernel& kernel, const Artifact& artifact,
                                       size_t instance, bool repeat) {
  if (instance >= instances_.size()) return fail(ErrorCode::internal, "no instance {}", instance);
  InputSet& inputs = instances_[instance];
  const auto operands = problem_.operands();
  const size_t output_bytes = outputs_.bytes;
  ASSAY_TRY(const size_t workspace_bytes, verify::workspace_bytes(kernel, problem_, 1, device_));
  const size_t sizes[] = {output_bytes, workspace_bytes};
  ASSAY_TRY(auto buffers, GpuArena::allocate(*zones_, sizes, next_seed()));
  GpuPool prepared(device_);
  Arguments arguments{problem_, {}};
  for (size_t i = 0; i < operands.size(); ++i)
    arguments.data.push_back(inputs.index[i] == kNowhere ? nullptr
                                                         : inputs.arena.at(inputs.index[i]).data);
  const std::vector<void*> given = arguments.data;
  outputs_.set(arguments.data, buffers.at(0).data);
  const std::span<std::byte> workspace(static_cast<std::byte*>(buffers.at(1).data),
                                       buffers.at(1).bytes);
  ASSAY_TRY(Plan plan, watching(kernel, [&] {
              return kernel.plan({arguments, artifact, device_, workspace, 1, &prepared});
            }));

  ProvenLaunch proven;
  // One that may begin before its inputs are there is never proven by launches that find them.
  const bool dependent = kernel.metadata().dependent_launch();
  repeat = repeat || dependent;
  proven.launches = repeat ? 2 : 1;
  const bool dense = has_dense_outputs(problem_);
  const GpuArena::Piece& written = buffers.at(0);
  std::string between_rows;  // What was written there.
  const verify::OutputGaps gaps = verify::OutputGaps::of(problem_);
  std::vector<uint64_t> first;  // Of each output.
  for (int launch = 0; launch < proven.launches; ++launch) {
    ASSAY_TRY(fill(written, next_seed()));
    ASSAY_TRY(fill(buffers.at(1), next_seed()));
    if (dependent && launch == 1) {
      ASSAY_TRY(launch_late(plan, inputs, given, written, proven.launch_ns));
    } else {
      ASSAY_TRY(give(given, written));
      std::vector<std::byte> between(gaps.empty() ? 0 : written.bytes);
      const uint64_t of_gaps = next_seed();
      if (!gaps.empty()) {
        ASSAY_TRY(device_.copy_out(between, written.data));
        gaps.poison(between, of_gaps);
        ASSAY_TRY(device_.copy_in(written.data, between));
      }
      const auto stream = static_cast<cuda::abi::Stream>(stream_->native());
      ASSAY_TRY(start_->record(stream));
      ASSAY_TRY(plan.launch(*stream_));
      ASSAY_TRY(end_->record(stream));
      ASSAY_TRY(stream_->synchronize());
      ASSAY_TRY(proven.launch_ns, end_->ns_since(*start_));
      if (!gaps.empty()) {
        ASSAY_TRY(device_.copy_out(between, written.data));
        if (const auto change = gaps.find_change(between, of_gaps)) between_rows = change->text();
      }
    }
    std::vector<uint64_t> digest;
    for (const OutputPlaces::Place& place : outputs_.places) {
      const void* output = static_cast<const std::byte*>(written.data) + place.offset;
      ASSAY_TRY(digest.emplace_back(), digest_->of(*stream_, output, place.bytes));
    }
    if (launch == 0) {
      first = digest;
      ASSAY_TRY(proven.output, hand_out(written));
      continue;
    }
    if (dense) proven.repeatable = digest == first;
    if (dense && proven.repeatable) continue;
    ASSAY_TRY(proven.second, hand_out(written));
  }
  ASSAY_TRY(proven.trespass, buffers.find_trespass([](size_t index) {
    return std::string(index == 0 ? "the output" : "the workspace");
  }));
  if (proven.trespass.empty()) proven.trespass = between_rows;
  if (proven.trespass.empty()) {
    ASSAY_TRY(proven.trespass,
              inputs.arena.find_trespass([](size_t) { return std::string("an input"); }));
  }
  for (size_t i = 0; i < operands.size() && !proven.inputs_changed; ++i) {
    if (inputs.index[i] == kNowhere) continue;
    const GpuArena::Piece& piece = inputs.arena.at(inputs.index[i]);
    ASSAY_TRY(const uint64_t digest, digest_->of(*stream_, piece.data, piece.bytes));
    proven.inputs_changed = digest != inputs.digest[i];
  }
  return proven;
}

void GpuProblem::hand_out_by_gpu(bool by_gpu) {
  by_gpu_ = by_gpu;
  handed_out_.clear();
}

// What is in it now: the next launch may write there.
Result<HandedOut> GpuProblem::hand_out(const GpuArena::Piece& piece) {
  HandedOut output;
  if (by_gpu_) {
    const size_t pages = (piece.bytes + cuda::kSharedPage - 1) / cuda::kSharedPage;
    auto kept = device_.allocate(pages * cuda::kSharedPage, {.alignment = 256});
    if (kept) {
      const cuda::Driver& driver = *device_.driver();
      const void* copy = (*kept)->data();
      ASSAY_TRY(driver.check(
          driver.call().copy_async(reinterpret_cast<cuda::abi::Address>(copy),
                                   reinterpret_cast<cuda::abi::Address>(piece.data), piece.bytes,
                                   static_cast<cuda::abi::Stream>(stream_->native())),
          "keeping an output"));
      ASSAY_TRY(stream_->synchronize());
      ASSAY_TRY(output.gpu, cuda::share(driver, copy, piece.bytes));
      handed_out_.push_back(std::move(*kept));
      return output;
    }
    // A full GPU: the host has room.
    if (kept.error().code != ErrorCode::machine) return fail(std::move(kept).error());
  }
  ASSAY_TRY(const auto bytes, read(piece));
  ASSAY_TRY(output.file, create_sealed_memfd("assay-output", bytes));
  return output;
}

}  // namespace assay::sweep
