#include "bench/slowed_family.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/kernel/catalog.h"

namespace assay::bench {
namespace {

struct Slowed {
  Plan plan;
  double share = 0;
};

int launch_slowed(const void* state, void* const* data) {
  const auto& slowed = *static_cast<const Slowed*>(state);
  const int64_t start = monotonic_ns();
  for (const Step& step : slowed.plan.steps()) {
    const auto& host = std::get<HostStep>(step);
    if (const int code = host.function(host.state.get(), data); code != 0) return code;
  }
  const auto took = static_cast<double>(monotonic_ns() - start);
  const int64_t until = start + static_cast<int64_t>(took * (1 + slowed.share));
  while (monotonic_ns() < until) {
  }
  return 0;
}

class SlowedFamily final : public Family {
 public:
  explicit SlowedFamily(Kernel original) : original_(std::move(original)) {
    for (const double share : {0.02, 0.05}) {
      KernelTraits traits = *original_.metadata().traits;
      traits.provider.clear();
      traits.family.clear();
      traits.name = "slowed_{slowdown}";
      Design design = original_.metadata().design;
      design.set("default", false);
      design.set("slowdown", share);
      rows_.emplace_back(std::move(traits), std::move(design));
    }
  }
  std::string_view name() const override { return "slowed"; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    if (!query.admits(rows_.front().rule(), static_cast<int64_t>(rows_.size()))) return;
    for (const KernelMetadata& row : rows_) sink(row);
  }
  Refusals do_supports(const KernelMetadata&, const Problem& problem,
                       const Target& target) const override {
    return original_.supports(problem, target);
  }
  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    ASSAY_TRY(Artifact artifact, original_.compile(problem.unmasked_types(), target, context));
    Json facts = artifact.facts;
    facts["slowdown"] = share_of(row);
    return Artifact::without_bytes(std::move(facts));
  }
  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    const Arguments arguments{binding.problem, {binding.data.begin(), binding.data.end()}};
    const std::span<std::byte> workspace(static_cast<std::byte*>(binding.workspace),
                                         binding.workspace_bytes);
    ASSAY_TRY(Plan plan, original_.plan({.arguments = arguments,
                                         .artifact = binding.artifact,
                                         .device = binding.device,
                                         .workspace = workspace,
                                         .threads = binding.threads}));
    steps.push_back(HostStep{
        &launch_slowed, std::make_shared<const Slowed>(Slowed{std::move(plan), share_of(row)})});
    return {};
  }
  static double share_of(const KernelMetadata& row) {
    const Value* share = row.design.find("slowdown");
    const auto* number = share == nullptr ? nullptr : std::get_if<double>(share);
    return number == nullptr ? 0 : *number;
  }

  Kernel original_;
  std::vector<KernelMetadata> rows_;
};

}  // namespace

Result<std::shared_ptr<const Family>> make_slowed_family(
    std::span<const std::unique_ptr<Provider>> providers, const std::string& library) {
  const auto provider = std::find_if(providers.begin(), providers.end(), [](const auto& one) {
    return one->info().name == "openblas";
  });
  if (provider == providers.end()) return fail(ErrorCode::missing, "no provider is openblas");
  Catalog catalog;
  catalog.add(**provider, {{"library", library}});
  ASSAY_TRY(auto found, catalog.get_kernels({.where = [](const KernelMetadata& row) {
    return row.name() == "sgemm";
  }}));
  if (found.kernels.empty()) return fail(ErrorCode::missing, "'{}' has no sgemm", library);
  return std::make_shared<const SlowedFamily>(found.kernels.front());
}

}  // namespace assay::bench
