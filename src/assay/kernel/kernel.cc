#include "assay/kernel/kernel.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "assay/base/clock.h"

namespace assay {
namespace {

constexpr size_t kPreparedAlignment = 4096;
constexpr size_t kWorkspaceAlignment = 64;

bool is_aligned(const void* address, size_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

// Families are other people's code; what they throw ends here.
template <class Call>
auto guarded(const Kernel& kernel, std::string_view hook, const Call& call) -> decltype(call()) {
  std::string what = "an exception of an unknown type";
  try {
    return call();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  return fail(ErrorCode::failed, "{} of family {} threw for {}: {}", hook,
              kernel.metadata().family(), kernel.metadata().name(), what);
}

// Passes on to the caller's memory, or takes the device's, and remembers what was handed out.
class Allocator final : public Prepared {
 public:
  Allocator(Prepared* given, Device& device) : given_(given), device_(device) {}

  Result<std::span<std::byte>> allocate(size_t bytes) override {
    if (called_) return fail(ErrorCode::internal, "prepared memory is asked for a second time");
    called_ = true;
    const int64_t before = monotonic_ns();
    if (given_) {
      ASSAY_TRY(memory_, given_->allocate(bytes));
    } else {
      ASSAY_TRY(auto buffer, device_.allocate(bytes, {.alignment = kPreparedAlignment}));
      memory_ = {static_cast<std::byte*>(buffer->data()), bytes};
      owned_ = std::move(buffer);
    }
    if (memory_.size() < bytes || !is_aligned(memory_.data(), kPreparedAlignment)) {
      return fail(ErrorCode::internal, "prepared memory is too small or not aligned to {} bytes",
                  kPreparedAlignment);
    }
    memory_ = memory_.first(bytes);
    spent_ns_ = monotonic_ns() - before;
    return memory_;
  }

  std::span<std::byte> memory() const { return memory_; }
  std::shared_ptr<const void> owned() { return std::move(owned_); }
  int64_t spent_ns() const { return spent_ns_; }

 private:
  Prepared* given_;
  Device& device_;
  bool called_ = false;
  std::span<std::byte> memory_;
  std::shared_ptr<const void> owned_;
  int64_t spent_ns_ = 0;
};

Status check_pointers(const Arguments& arguments) {
  const auto operands = arguments.problem.operands();
  if (arguments.data.size() != operands.size()) {
    return fail(ErrorCode::invalid_input, "{} pointers given for the {} operands of {}",
                arguments.data.size(), operands.size(), arguments.problem.name());
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (arguments.data[i] == nullptr) {
      return fail(ErrorCode::invalid_input, "operand {} is null", operands[i].role);
    }
    const auto alignment = static_cast<size_t>(std::max<int64_t>(operands[i].alignment, 1));
    if (!is_aligned(arguments.data[i], alignment)) {
      return fail(ErrorCode::invalid_input,
                  "operand {} is promised {}-byte alignment, but lies at {}", operands[i].role,
                  alignment, arguments.data[i]);
    }
  }
  return {};
}

}  // namespace

Refusals Kernel::supports(const Problem& problem, const Target& target) const {
  Refusals refusals;
  if (metadata_.traits->rule) {
    refusals = metadata_.rule().match(&problem, &target);
  } else {
    refusals.add(Reason::other, "a defect of the family: the row has no rule");
  }
  // The hook may rely on what the rule promises.
  if (!refusals.empty()) return refusals;
  try {
    return family_->do_supports(metadata_, problem, target);
  } catch (const std::exception& error) {
    refusals.add(Reason::other, fmt::format("a defect of the family: {}", error.what()));
  } catch (...) {
    refusals.add(Reason::other, "a defect of the family: an exception of an unknown type");
  }
  return refusals;
}

Result<Artifact> Kernel::compile(const Problem& problem, const Target& target,
                                 const CompileContext& context) const {
  const MaskedProblem masked(problem, metadata_.specialised_on());
  return guarded(*this, "compile", [&]() -> Result<Artifact> {
    return family_->do_compile(metadata_, masked, target, context);
  });
}

size_t Kernel::workspace_bytes(const Problem& problem, int threads) const {
  return family_->do_workspace_bytes(metadata_, problem, threads);
}

std::string Kernel::prepared_layout(const Problem& problem) const {
  return metadata_.prepares() ? family_->do_prepared_layout(metadata_, problem) : std::string();
}

Result<Plan> Kernel::plan(const PlanOptions& options) const {
  const Problem& problem = options.arguments.problem;
  ASSAY_TRY(check_pointers(options.arguments));
  if (options.threads < 1) {
    return fail(ErrorCode::invalid_input, "a plan needs at least one thread, not {}",
                options.threads);
  }
  ASSAY_TRY(const size_t needed, guarded(*this, "workspace", [&]() -> Result<size_t> {
              return workspace_bytes(problem, options.threads);
            }));
  if (options.workspace.size() < needed) {
    return fail(ErrorCode::invalid_input, "{} needs a workspace of {} bytes, and {} were given",
                metadata_.name(), needed, options.workspace.size());
  }
  if (needed > 0 && !is_aligned(options.workspace.data(), kWorkspaceAlignment)) {
    return fail(ErrorCode::invalid_input, "the workspace is not aligned to {} bytes",
                kWorkspaceAlignment);
  }

  Plan plan;
  plan.dependent_launch_ = metadata_.dependent_launch();
  plan.keep_.push_back(family_);
  plan.data_ = options.arguments.data;
  Binding binding{.problem = problem,
                  .data = options.arguments.data,
                  .workspace = needed > 0 ? options.workspace.data() : nullptr,
                  .workspace_bytes = needed > 0 ? options.workspace.size() : 0,
                  .prepared = {},
                  .artifact = options.artifact,
                  .device = options.device,
                  .threads = options.threads};
  if (metadata_.prepares() && !options.packed.empty()) {
    binding.prepared = options.packed;
    plan.prepared_bytes_ = binding.prepared.size();
  } else if (metadata_.prepares()) {
    Allocator allocator(options.prepared, options.device);
    const int64_t before = monotonic_ns();
    ASSAY_TRY(guarded(*this, "prepare", [&]() -> Status {
      return family_->do_prepare(metadata_, binding, allocator);
    }));
    // Getting the memory is the harness's affair, packing the kernel's.
    const int64_t spent = monotonic_ns() - before - allocator.spent_ns();
    plan.prepare_seconds_ = static_cast<double>(spent) * 1e-9;
    binding.prepared = allocator.memory();
    plan.prepared_bytes_ = binding.prepared.size();
    if (auto owned = allocator.owned()) plan.keep_.push_back(std::move(owned));
  }
  ASSAY_TRY(guarded(*this, "bind",
                    [&]() -> Status { return family_->do_bind(metadata_, binding, plan.steps_); }));
  const bool callable = std::all_of(plan.steps_.begin(), plan.steps_.end(), [](const Step& step) {
    return std::visit([](const auto& any) { return any.function != nullptr; }, step);
  });
  if (plan.steps_.empty() || !callable) {
    return fail(ErrorCode::failed, "family {} bound {} to no function", metadata_.family(),
                metadata_.name());
  }
  for (const Operand& operand : problem.operands()) {
    const OperandRule* rule =
        metadata_.traits->rule ? metadata_.rule().find_operand(operand.role) : nullptr;
    plan.promises_.push_back({static_cast<size_t>(std::max<int64_t>(operand.alignment, 1)),
                              metadata_.prepares() && rule && rule->prepared});
  }
  plan.data_.push_back(binding.workspace);
  plan.data_.push_back(binding.prepared.data());
  ASSAY_TRY(plan.fill_parameters());
  return plan;
}

Status Kernel::run(const Arguments& arguments, Device& device, Stream& stream,
                   const CompileContext& context) const {
  const Refusals refusals = supports(arguments.problem, device.target());
  if (!refusals.empty()) {
    std::string all;
    for (const Refusal& refusal : refusals) {
      if (!all.empty()) all += "; ";
      all += refusal.sentence;
    }
    return fail(ErrorCode::unsupported, "{} cannot run {}: {}", metadata_.name(),
                arguments.problem.name(), all);
  }
  ASSAY_TRY(const Artifact artifact, compile(arguments.problem, device.target(), context));
  ASSAY_TRY(const size_t bytes, guarded(*this, "workspace", [&]() -> Result<size_t> {
              return workspace_bytes(arguments.problem, device.threads());
            }));
  std::unique_ptr<Buffer> workspace;
  if (bytes > 0) {
    ASSAY_TRY(workspace, device.allocate(bytes, {}));
  }
  ASSAY_TRY(Plan bound,
            plan({.arguments = arguments,
                  .artifact = artifact,
                  .device = device,
                  .workspace = workspace ? std::span(static_cast<std::byte*>(workspace->data()),
                                                     workspace->bytes())
                                         : std::span<std::byte>(),
                  .threads = device.threads()}));
  ASSAY_TRY(bound.launch(stream));
  return stream.synchronize();
}

}  // namespace assay
