#include "family.h"

#include <algorithm>

#include "assay/base/text.h"
#include "assay/input/entry_family.h"
#include "assay/input/manifest.h"
#include "call.h"
#include "compile.h"
#include "export.h"
#include "shim.h"

namespace assay::cpp_source {
namespace {

class SourceFamily final : public input::HostFamily, public Exportable {
 public:
  using HostFamily::HostFamily;

  const Exportable* exportable() const override { return this; }

  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const override {
    const MaskedProblem masked(problem, row.specialised_on());
    ASSAY_TRY(KernelExport made,
              export_source({.values = {.entry = entry(),
                                        .row = row,
                                        .problem = problem,
                                        .threads = options.threads,
                                        .workspace_bytes = rows().workspace_bytes(
                                            row.design, problem, options.threads)},
                             .macros = macros(row, masked),
                             .target = options.target}));
    made.prepared_bytes = static_cast<int64_t>(rows().prepare_bytes(row.design, problem));
    return made;
  }

 private:
  // Where the kernel takes several types, it must be told which it has.
  std::vector<std::string> macros(const KernelMetadata& row, const MaskedProblem& problem) const {
    return HostFamily::macros(row, problem, TypeMacros::choices);
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem& problem,
                              const Target& target, const CompileContext& context) const override {
    return compile(
        {.entry = entry(), .macros = macros(row, problem), .target = target, .context = context});
  }

  Status do_prepare(const KernelMetadata& row, const Binding& binding,
                    Prepared& prepared) const override {
    ASSAY_TRY(const std::span<std::byte> memory,
              prepared.allocate(rows().prepare_bytes(row.design, binding.problem)));
    ASSAY_TRY(const HostStep step, bind(row, binding, entry().prepare_args, kPrepareSymbol));
    std::vector<void*> data(binding.data.begin(), binding.data.end());
    data.push_back(nullptr);
    data.push_back(memory.data());
    const int code = step.function(step.state.get(), data.data());
    if (code != 0)
      return fail(ErrorCode::failed, "{} returned {}", entry().prepare_entry, code_text(code));
    return {};
  }

  static std::string code_text(int code) {
    return code == kNarrowed ? "nothing: a size does not fit into the integer that it takes"
                             : std::to_string(code);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    ASSAY_TRY(HostStep step, bind(row, binding, entry().args, kCallSymbol));
    steps.push_back(std::move(step));
    return {};
  }

  Result<HostStep> bind(const KernelMetadata& row, const Binding& binding,
                        const std::vector<std::string>& args, const char* symbol) const {
    return bind_call(
        {.entry = entry(),
         .row = row,
         .binding = binding,
         .args = args,
         .symbol = symbol,
         .workspace_bytes = rows().workspace_bytes(row.design, binding.problem, binding.threads)});
  }
};

}  // namespace

Result<std::shared_ptr<const Family>> make_family(const KernelEntry& entry) {
  if (!entry.rule) return fail(ErrorCode::invalid_input, "{}: no rule", entry.origin);
  std::vector<std::string> functions = {entry.entry};
  if (!entry.prepare_entry.empty()) functions.push_back(entry.prepare_entry);
  for (const std::string& function : functions) {
    if (!input::is_function_name(function))
      return fail(ErrorCode::invalid_input, "{}: entry: '{}' cannot be a function's name",
                  entry.origin, sanitize(function, 60));
    if (is_c(entry) && function.find(':') != std::string::npos)
      return fail(ErrorCode::invalid_input, "{}: entry: '{}': C has no namespaces", entry.origin,
                  sanitize(function, 60));
  }
  ASSAY_TRY(shim_text(entry, {}));  // Arguments that cannot be passed are known now.
  ASSAY_TRY(auto rows, input::EntryRows::create(entry));
  return std::make_shared<const SourceFamily>(std::move(rows));
}

}  // namespace assay::cpp_source
