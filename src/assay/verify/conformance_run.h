#pragma once

// Kernels run on inputs of every useful kind, between zones that nobody may write: the checks of
// conformance.h that launch. Not for use outside this folder.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "assay/op/operation.h"
#include "assay/verify/conformance.h"

namespace assay::verify {

// One problem with its inputs and references.
class ConformanceRun {
 public:
  static Result<ConformanceRun> create(const Problem& problem, Device& device);

  // Each kind of input, two launches each, into a dirty output; then, by rebind, elsewhere.
  // Launches are counted. Errors say what was wrong.
  Status compute(const Kernel& kernel, const CompileContext& context, int threads,
                 int64_t& launches) const;

 private:
  class Guarded;
  class Operands;
  ConformanceRun(const Problem& problem, Device& device) : problem_(problem), device_(&device) {}
  Status compute(const Kernel& kernel, const Artifact& artifact, const Instance& instance,
                 int threads, Guarded& workspace, int64_t& launches) const;
  Status move(Plan& plan, Stream& stream, Operands& from, const Instance& instance,
              ErrorBound bound) const;

  Problem problem_;
  Device* device_;
  std::map<InputKind, std::unique_ptr<Instance>> instances_;
  std::map<ErrorBound, std::vector<InputKind>> kinds_;  // That say something of its kernels.
};

}  // namespace assay::verify
