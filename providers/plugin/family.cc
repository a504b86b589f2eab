#include "family.h"

#include <iterator>

#include "assay/base/text.h"
#include "assay/input/entry_rows.h"
#include "hook_call.h"
#include "load.h"

namespace assay::plugin {
namespace {

constexpr std::string_view kKernel = "kernel";

struct Described {
  AssayKernel hooks;
  input::EntryRows rows;
};

class PluginFamily final : public Family {
 public:
  PluginFamily(std::string name, std::shared_ptr<const Loaded> loaded,
               std::vector<Described> kernels)
      : name_(std::move(name)), loaded_(std::move(loaded)), kernels_(std::move(kernels)) {}

  std::string_view name() const override { return name_; }

 private:
  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    for (const Described& kernel : kernels_) kernel.rows.enumerate(query, sink);
  }

  Result<const Described*> kernel_of(const KernelMetadata& row) const {
    const std::string_view wanted = row.design.text(kKernel, "");
    for (const Described& kernel : kernels_)
      if (kernel.rows.entry().name == wanted) return &kernel;
    return fail(ErrorCode::not_found, "plug-in {} has no kernel '{}'", loaded_->name,
                sanitize(wanted, 60));
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target& target) const override {
    Refusals refusals;
    const Status asked = ask_support(row, problem, target, refusals);
    if (!asked) refusals.add(Reason::other, asked.error().message);
    return refusals;
  }

  Status ask_support(const KernelMetadata& row, const Problem& problem, const Target& target,
                     Refusals& refusals) const {
    ASSAY_TRY(const Described* const kernel, kernel_of(row));
    if (const auto why = kernel->rows.objection(row.design, problem)) {
      refusals.add(why->reason, why->sentence);
      return {};
    }
    if (kernel->hooks.supports == nullptr) return {};
    ASSAY_TRY(const auto call, HookCall::create({.self = kernel->hooks.self,
                                                 .kernel = kernel->rows.entry().name,
                                                 .target = target.to_string(),
                                                 .row = row,
                                                 .problem = problem}));
    ASSAY_TRY(call->run(kernel->hooks.supports, "supports"));
    refusals = std::move(call->refusals());
    return {};
  }

  // Nothing is compiled: the artifact says which bytes run.
  Result<Artifact> do_compile(const KernelMetadata&, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return Artifact::without_bytes({{"plugin", loaded_->name},
                                    {"plugin_version", loaded_->version},
                                    {"plugin_abi", ASSAY_PLUGIN_ABI_VERSION},
                                    {"sha256", loaded_->sha256}});
  }

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                            int threads) const override {
    const auto kernel = kernel_of(row);
    return kernel ? (*kernel)->rows.workspace_bytes(row.design, problem, threads) : 0;
  }

  Result<std::shared_ptr<HookCall>> call_of(const Described& kernel, const KernelMetadata& row,
                                            const Binding& binding, uint64_t prepared_bytes) const {
    const Problem& problem = binding.problem;
    return HookCall::create(
        {.self = kernel.hooks.self,
         .kernel = kernel.rows.entry().name,
         .target = binding.device.target().to_string(),
         .row = row,
         .problem = problem,
         .threads = binding.threads,
         .workspace_bytes = kernel.rows.workspace_bytes(row.design, problem, binding.threads),
         .prepared_bytes = prepared_bytes});
  }

  Status do_prepare(const KernelMetadata& row, const Binding& binding,
                    Prepared& prepared) const override {
    ASSAY_TRY(const Described* const kernel, kernel_of(row));
    ASSAY_TRY(const std::span<std::byte> memory,
              prepared.allocate(kernel->rows.prepare_bytes(row.design, binding.problem)));
    ASSAY_TRY(const auto call, call_of(*kernel, row, binding, memory.size()));
    call->show_data(memory.data(), binding.data);
    return call->run(kernel->hooks.prepare, "prepare");
  }

  // The artifact was made where the rows were found, perhaps in another process and of another
  // file.
  Status check(const Artifact& artifact) const {
    const auto built = artifact.facts.find("sha256");
    if (built != artifact.facts.end() && *built == loaded_->sha256 && is_as_it_was(*loaded_))
      return {};
    return fail(ErrorCode::failed,
                "plug-in {} is not the one that was raced: the file has changed in between; run it "
                "again",
                loaded_->name);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(check(binding.artifact));
    ASSAY_TRY(const Described* const kernel, kernel_of(row));
    ASSAY_TRY(const auto call, call_of(*kernel, row, binding, binding.prepared.size()));
    const Status bound = call->run(kernel->hooks.bind, "bind");
    std::vector<Step> made = HookCall::take_steps(call);  // Released, where it failed.
    if (!bound) return bound;
    std::move(made.begin(), made.end(), std::back_inserter(steps));
    return {};
  }

  std::string name_;
  std::shared_ptr<const Loaded> loaded_;
  std::vector<Described> kernels_;
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  ASSAY_TRY(const auto loaded, load(entry));
  std::vector<Described> kernels;
  for (const LoadedKernel& kernel : loaded->kernels) {
    for (const KernelEntry& described : kernel.entries) {
      ASSAY_TRY(auto rows, input::EntryRows::create(
                               described, {axis(std::string(kKernel), {described.name})}));
      kernels.push_back({kernel.hooks, std::move(rows)});
    }
  }
  return std::make_shared<const PluginFamily>(entry.name, loaded, std::move(kernels));
}

}  // namespace assay::plugin
