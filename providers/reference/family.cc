#include "family.h"

#include <memory>
#include <utility>
#include <vector>

#include "assay/device/cpu/cpu_device.h"

namespace assay::reference {
namespace {

DesignSpace space_of(ProblemRule rule) {
  rule.targets = {Target{.arch = cpu::host_target().arch, .features = {}}};
  DesignGroup group;
  group.traits.name = "{sums}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {axis("sums", {std::string("float64")})};
  std::vector<DesignGroup> groups;
  groups.push_back(std::move(group));
  return DesignSpace(std::move(groups));
}

}  // namespace

SumsFamily::SumsFamily(std::string name, ProblemRule rule)
    : name_(std::move(name)), space_(space_of(std::move(rule))) {}

void SumsFamily::do_enumerate(const Query& query, const MetadataSink& sink) const {
  space_.enumerate(query, sink);
}

Result<Artifact> SumsFamily::do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                                        const CompileContext&) const {
  return Artifact::without_bytes({{"code", "built in"}});
}

size_t SumsFamily::do_workspace_bytes(const KernelMetadata&, const Problem& problem, int) const {
  return 2 * sizeof(double) * static_cast<size_t>(problem.dimension("n"));
}

}  // namespace assay::reference
