#include "gemm.h"

#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"
#include "routine.h"

namespace assay::openblas {
namespace {

DesignGroup group_of(const RoutineInfo& routine, bool is_default) {
  ProblemRule rule;
  rule.operands = {{.role = "a", .dtypes = {routine.in}},
                   {.role = "b", .dtypes = {routine.in}},
                   {.role = "c", .dtypes = {routine.out}},
                   {.role = "out", .dtypes = {routine.out}}};
  rule.accumulate = {routine.out};
  rule.scalars = true;
  rule.targets = {Target{.arch = cpu::host_target().arch, .features = {}}};
  DesignGroup group;
  group.traits.name = "{routine}";
  group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
  group.axes = {axis("routine", {std::string(routine.name)}), axis("default", {is_default})};
  return group;
}

class BlasFamily final : public Family {
 public:
  BlasFamily(std::shared_ptr<const Api> api, std::string name, std::vector<RoutineInfo> routines)
      : api_(std::move(api)),
        name_(std::move(name)),
        routines_(std::move(routines)),
        space_(groups()) {}

  std::string_view name() const override { return name_; }

 private:
  std::vector<DesignGroup> groups() const {
    std::vector<DesignGroup> groups;
    for (const RoutineInfo& routine : routines_)
      groups.push_back(group_of(routine, name_ == "gemm"));
    return groups;
  }

  const RoutineInfo* find(const KernelMetadata& row) const {
    for (const RoutineInfo& routine : routines_)
      if (row.design["routine"] == routine.name) return &routine;
    return nullptr;
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    const RoutineInfo* routine = find(row);
    const auto view = gemm::view(problem);
    if (routine == nullptr || !view)
      refusals.add(Reason::other, view ? "no such routine" : view.error().message);
    else
      routine->check(*view, refusals);
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    Json facts = api_->details();
    facts["library"] = "openblas";
    facts["routine"] = row.design.text("routine", "");
    facts["version"] = api_->version();
    facts["path"] = api_->path();
    facts["sha256"] = api_->sha256();
    return Artifact::without_bytes(std::move(facts));
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    const RoutineInfo* routine = find(row);
    if (routine == nullptr) return fail(ErrorCode::internal, "no such routine");
    ASSAY_TRY(check_artifact(binding.artifact));
    ASSAY_TRY(const gemm::View view, gemm::view(binding.problem));
    ASSAY_TRY(HostStep step, routine->bind(api_, view, binding));
    api_->use_threads(binding.threads);
    steps.push_back(std::move(step));
    return {};
  }

  // An artifact says which library was proven and timed; it may come from another process.
  Status check_artifact(const Artifact& artifact) const {
    const auto fact = [&](const char* name) {
      const auto found =
          artifact.facts.is_object() ? artifact.facts.find(name) : artifact.facts.end();
      return found != artifact.facts.end() && found->is_string() ? found->get<std::string>() : "";
    };
    if (fact("path") == api_->path() || fact("sha256") == api_->sha256()) return {};
    return fail(ErrorCode::failed, "the artifact is of '{}', but '{}' is loaded", fact("path"),
                api_->path());
  }

  std::shared_ptr<const Api> api_;
  std::string name_;
  std::vector<RoutineInfo> routines_;
  DesignSpace space_;
};

}  // namespace

std::shared_ptr<const Family> make_gemm_family(std::shared_ptr<const Api> api) {
  std::vector<RoutineInfo> routines = gemm_routines(*api);
  return std::make_shared<BlasFamily>(std::move(api), "gemm", std::move(routines));
}

std::shared_ptr<const Family> make_gemv_family(std::shared_ptr<const Api> api) {
  std::vector<RoutineInfo> routines = gemv_routines(*api);
  return std::make_shared<BlasFamily>(std::move(api), "gemv", std::move(routines));
}

}  // namespace assay::openblas
