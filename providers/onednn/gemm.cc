#include "gemm.h"

#include "assay/base/json.h"
#include "assay/device/cpu/cpu_device.h"

namespace assay::onednn {

std::vector<std::shared_ptr<const Family>> make_families(std::shared_ptr<const Api> api) {
  return {make_matmul_family(api), make_sgemm_family(api)};
}

Artifact library_artifact(const Api& api, const KernelMetadata& row) {
  Json facts = api.details();
  facts["library"] = "onednn";
  facts["routine"] = row.design.text("routine", "");
  facts["version"] = api.version();
  facts["path"] = api.path();
  facts["sha256"] = api.sha256();
  return Artifact::without_bytes(std::move(facts));
}

Status check_artifact(const Api& api, const Artifact& artifact) {
  const auto fact = [&](const char* name) -> std::string {
    const Json& facts = artifact.facts;
    const auto found = facts.is_object() ? facts.find(name) : facts.end();
    return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (fact("path") == api.path() || fact("sha256") == api.sha256()) return {};
  return fail(ErrorCode::failed, "the artifact is of '{}', but '{}' is loaded", fact("path"),
              api.path());
}

DesignGroup group_of(const char* name, bool is_default, ProblemRule rule) {
  rule.targets = {Target{.arch = cpu::host_target().arch, .features = {}}};
  DesignGroup group;
  group.traits.name = "{routine}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {axis("routine", {std::string(name)}), axis("default", {is_default})};
  return group;
}

Places places_of(const Problem& problem) {
  Places places;
  const auto operands = problem.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].role == "a") places.a = i;
    if (operands[i].role == "b") places.b = i;
    if (operands[i].role == "out") places.out = i;
    if (operands[i].role == "c") places.c = i;
  }
  return places;
}

}  // namespace assay::onednn
