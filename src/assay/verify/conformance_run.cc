#include "assay/verify/conformance_run.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "assay/verify/float_control.h"
#include "assay/verify/workspace.h"

namespace assay::verify {
namespace {

constexpr size_t kZone = 256;              // Bytes around a buffer that nobody may write.
constexpr auto kFiller = std::byte{0xff};  // NaN in every floating type.
constexpr uint64_t kConformanceSeed = 7;

}  // namespace

// A buffer between two zones, at the promised alignment. (GuardedArena aligns all to 64 bytes.)
class ConformanceRun::Guarded {
 public:
  Guarded(size_t bytes, size_t alignment) : bytes_(bytes) {
    const size_t before = (std::max(kZone, alignment) + alignment - 1) / alignment * alignment;
    memory_.assign(before + bytes + kZone + alignment, kFiller);
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    begin_ = (address + before + alignment - 1) / alignment * alignment - address;
  }
  std::byte* data() { return memory_.data() + begin_; }
  std::span<std::byte> bytes() { return {data(), bytes_}; }
  bool zones_intact() const {
    const auto untouched = [](std::byte byte) { return byte == kFiller; };
    const auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), begin, untouched) &&
           std::all_of(begin + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), untouched);
  }

 private:
  std::vector<std::byte> memory_;
  size_t bytes_ = 0, begin_ = 0;
};

// Operands of an instance in memory of their own, as a worker has them.
class ConformanceRun::Operands {
 public:
  Operands(const Problem& problem, const Instance& instance) : arguments_{problem, {}} {
    for (const Operand& operand : problem.operands()) {
      buffers_.emplace_back(static_cast<size_t>(operand.span_bytes),
                            static_cast<size_t>(std::max<int64_t>(operand.alignment, 1)));
      arguments_.data.push_back(buffers_.back().data());
      if (operand.access != Access::read) outputs_.push_back(buffers_.size() - 1);
      if (operand.access == Access::write) continue;  // Holds the filler.
      const auto input = instance.input(buffers_.size() - 1);
      std::memcpy(buffers_.back().data(), input.data(), buffers_.back().bytes().size());
    }
  }

  // Once more what the launch before wrote over.
  void give(const Instance& instance) {
    const auto operands = arguments_.problem.operands();
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].access == Access::read_write)
        std::memcpy(buffers_[i].data(), instance.input(i).data(), buffers_[i].bytes().size());
  }

  Status check(const Instance& instance, ErrorBound bound) {
    std::vector<std::span<const std::byte>> outputs;
    for (const size_t output : outputs_) outputs.emplace_back(buffers_[output].bytes());
    const auto check = instance.check(outputs, {}, bound);
    if (!check.right)
      return fail(ErrorCode::failed, "{}; {} of {} wrong, largest error {:.3g} of the budget ({})",
                  check.first_wrong, check.wrong, check.compared, check.max_error, check.method);
    const auto operands = arguments_.problem.operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!buffers_[i].zones_intact())
        return fail(ErrorCode::failed, "wrote outside operand {}", operands[i].role);
      const auto bytes = buffers_[i].bytes();
      if (operands[i].access == Access::read &&
          std::memcmp(bytes.data(), instance.input(i).data(), bytes.size()) != 0)
        return fail(ErrorCode::failed, "changed operand {}", operands[i].role);
    }
    return {};
  }

  void spoil() {
    for (Guarded& buffer : buffers_)
      std::fill(buffer.bytes().begin(), buffer.bytes().end(), kFiller);
  }

  const Arguments& arguments() const { return arguments_; }

 private:
  Arguments arguments_;
  std::vector<Guarded> buffers_;
  std::vector<size_t> outputs_;
};

Result<ConformanceRun> ConformanceRun::create(const Problem& problem, Device& device) {
  ConformanceRun run(problem, device);
  ASSAY_TRY(const Operation* operation, find_operation(problem.operation()));
  for (const ErrorBound bound : kErrorBounds) {
    for (const InputKind kind : operation->useful_kinds(problem, bound)) {
      auto& instance = run.instances_[kind];
      if (!instance) {
        ASSAY_TRY(instance, operation->make_instance(problem, kind, kConformanceSeed));
      }
      run.kinds_[bound].push_back(kind);
    }
  }
  return run;
}

Status ConformanceRun::compute(const Kernel& kernel, const CompileContext& context, int threads,
                               int64_t& launches) const {
  ASSAY_TRY(const Artifact artifact, kernel.compile(problem_, device_->target(), context));
  // A workspace holds garbage when a kernel first sees it, and later what it left there.
  ASSAY_TRY(const size_t bytes, workspace_bytes(kernel, problem_, threads, *device_));
  Guarded workspace(bytes, 64);
  for (const InputKind kind : kinds_.at(kernel.metadata().error_bound())) {
    const Status done =
        compute(kernel, artifact, *instances_.at(kind), threads, workspace, launches);
    if (!done) return fail(with_context(done.error(), to_string(kind)));
  }
  return {};
}

Status ConformanceRun::compute(const Kernel& kernel, const Artifact& artifact,
                               const Instance& instance, int threads, Guarded& workspace,
                               int64_t& launches) const {
  ASSAY_TRY(const auto stream, device_->make_stream());
  Operands operands(problem_, instance);
  ASSAY_TRY(Plan plan, kernel.plan({.arguments = operands.arguments(),
                                    .artifact = artifact,
                                    .device = *device_,
                                    .workspace = workspace.bytes(),
                                    .threads = threads}));
  if ((plan.prepared_bytes() > 0) != kernel.metadata().prepares())
    return fail(ErrorCode::failed, "says that it {}, and {} bytes were prepared",
                kernel.metadata().prepares() ? "prepares" : "prepares nothing",
                plan.prepared_bytes());
  // Twice, from a dirty output: a plan is launched again and again.
  for (int launch = 0; launch < 2; ++launch) {
    operands.give(instance);
    const FloatControl control = FloatControl::read();
    ASSAY_TRY(plan.launch(*stream));
    ASSAY_TRY(stream->synchronize());
    ++launches;
    if (!(FloatControl::read() == control)) {
      control.restore();
      return fail(
          ErrorCode::failed,
          "launch {}: left the processor rounding, or treating subnormal numbers, in another "
          "way than it found it",
          launch + 1);
    }
    if (const Status right = operands.check(instance, kernel.metadata().error_bound()); !right)
      return fail(with_context(right.error(), fmt::format("launch {}", launch + 1)));
    if (!workspace.zones_intact())
      return fail(ErrorCode::failed, "launch {}: wrote outside its workspace", launch + 1);
  }
  // What is packed stays where it is.
  if (kernel.metadata().prepares() || instance.kind() != InputKind::uniform) return {};
  ++launches;
  if (const Status moved = move(plan, *stream, operands, instance, kernel.metadata().error_bound());
      !moved)
    return fail(with_context(moved.error(), "on new pointers"));
  return {};
}

// A kernel that kept a pointer reads what is spoilt, or leaves the new output as it was.
Status ConformanceRun::move(Plan& plan, Stream& stream, Operands& from, const Instance& instance,
                            ErrorBound bound) const {
  Operands to(problem_, instance);
  ASSAY_TRY(plan.rebind(to.arguments().data));
  from.spoil();
  ASSAY_TRY(plan.launch(stream));
  ASSAY_TRY(stream.synchronize());
  return to.check(instance, bound);
}

}  // namespace assay::verify
