#pragma once

#include <memory>
#include <span>

#include "assay/kernel/family.h"

namespace assay {

// A problem's operands with the caller's pointers, one per operand in the problem's order.
struct Arguments {
  Problem problem;
  std::vector<void*> data;
};

struct PlanOptions {
  const Arguments& arguments;
  const Artifact& artifact;
  Device& device;
  std::span<std::byte> workspace;  // At least workspace_bytes, 64-byte aligned; checked.
  int threads = 1;
  Prepared* prepared = nullptr;  // Null: memory from the device, owned by the plan.
  std::span<std::byte> packed;   // Not empty: what a plan with the same prepared_layout() packed.
};

// One fully specified implementation: a row of a family. Cheap to copy.
class Kernel {
 public:
  Kernel(std::shared_ptr<const Family> family, KernelMetadata metadata)
      : family_(std::move(family)), metadata_(std::move(metadata)) {}

  const KernelMetadata& metadata() const { return metadata_; }
  const Family& family() const { return *family_; }

  // Every reason why not; empty means yes. The rule first, then the family's own hook.
  Refusals supports(const Problem& problem, const Target& target) const;

  Result<Artifact> compile(const Problem& problem, const Target& target,
                           const CompileContext& context) const;
  size_t workspace_bytes(const Problem& problem, int threads) const;

  // Kernels of one family with the same layout pack the same bytes; empty: nobody else does.
  std::string prepared_layout(const Problem& problem) const;

  // Errors: pointers missing or less aligned than promised, a workspace too small (invalid_input);
  // memory (machine); what the family's own hooks say. A hook that throws is ErrorCode::failed.
  Result<Plan> plan(const PlanOptions& options) const;

  // All of it at once, for convenience: supports, compile, workspace, plan, launch, wait.
  Status run(const Arguments& arguments, Device& device, Stream& stream,
             const CompileContext& context) const;

 private:
  std::shared_ptr<const Family> family_;
  KernelMetadata metadata_;
};

}  // namespace assay
