#pragma once

// A family for tests: hooks are functions that a test sets; what is not set does the least.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/kernel/catalog.h"
#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"

namespace assay::testing {

inline ProblemRule gemm_rule(DType dtype = DType::f32) {
  return {.operands = {{.role = "a", .dtypes = {dtype}},
                       {.role = "b", .dtypes = {dtype}},
                       {.role = "out", .dtypes = {dtype}}}};
}

inline std::shared_ptr<const ProblemRule> shared(ProblemRule rule) {
  return std::make_shared<const ProblemRule>(std::move(rule));
}

class ToyFamily final : public Family {
 public:
  ToyFamily(std::string name, std::vector<DesignGroup> groups)
      : name_(std::move(name)), space_(std::move(groups)) {}
  std::string_view name() const override { return name_; }

  std::function<void(const Query&, const MetadataSink&)> enumerate;
  std::function<Refusals(const KernelMetadata&, const Problem&)> supports;
  std::function<Result<Artifact>(const MaskedProblem&)> compile;
  std::function<size_t(const Problem&, int)> workspace;
  std::function<Status(const Binding&, Prepared&)> prepare;
  std::function<Status(const Binding&, std::vector<Step>&)> bind;

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (enumerate) return enumerate(query, sink);
    space_.enumerate(query, sink);
  }
  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target&) const override {
    return supports ? supports(row, problem) : Refusals();
  }
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem& problem, const Target&,
                              const CompileContext&) const override {
    return compile ? compile(problem) : Artifact::without_bytes({{"toy", true}});
  }
  size_t do_workspace_bytes(const KernelMetadata&, const Problem& problem,
                            int threads) const override {
    return workspace ? workspace(problem, threads) : 0;
  }
  Status do_prepare(const KernelMetadata&, const Binding& binding,
                    Prepared& prepared) const override {
    return prepare ? prepare(binding, prepared) : Status();
  }
  Status do_bind(const KernelMetadata&, const Binding& binding,
                 std::vector<Step>& steps) const override {
    if (bind) return bind(binding, steps);
    steps.push_back(HostStep{[](const void*, void* const*) { return 0; }, nullptr});
    return {};
  }

  std::string name_;
  DesignSpace space_;
};

// One group with a tile axis: toy_8, toy_16, toy_32.
inline std::vector<DesignGroup> toy_groups(ProblemRule rule = gemm_rule()) {
  std::vector<DesignGroup> groups;
  groups.push_back({.traits = {.name = "toy_{tile_m}", .rule = shared(std::move(rule))},
                    .axes = {axis("tile_m", {8, 16, 32})}});
  return groups;
}

inline std::vector<std::string> names(const Found& found) {
  std::vector<std::string> list;
  for (const Kernel& kernel : found.kernels) list.push_back(kernel.metadata().name());
  return list;
}

}  // namespace assay::testing
