#pragma once

// What the families here have alike: one design, built in, that sums in float64 in a workspace of
// two rows.

#include <string>
#include <string_view>

#include "assay/kernel/design_space.h"
#include "assay/kernel/family.h"
#include "assay/kernel/problem_rule.h"

namespace assay::reference {

class SumsFamily : public Family {
 public:
  // rule: of its problems, but for the target, which is this machine's processor.
  SumsFamily(std::string name, ProblemRule rule);

  std::string_view name() const final { return name_; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const final;
  Result<Artifact> do_compile(const KernelMetadata& metadata, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const final;
  size_t do_workspace_bytes(const KernelMetadata& metadata, const Problem& problem,
                            int threads) const final;

  std::string name_;
  DesignSpace space_;
};

}  // namespace assay::reference
