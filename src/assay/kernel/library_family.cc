#include "assay/kernel/library_family.h"

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/device/cpu/cpu_device.h"
#include "assay/kernel/design_space.h"
#include "assay/kernel/unfused.h"

namespace assay {
namespace {

std::vector<DesignGroup> groups_of(const std::vector<Routine>& routines) {
  std::vector<DesignGroup> groups;
  for (const Routine& routine : routines) {
    for (ProblemRule rule : routine.rules) {
      if (rule.targets.empty())
        rule.targets = {Target{.arch = cpu::host_target().arch, .features = {}}};
      DesignGroup group;
      group.traits.name = routine.row_name;
      group.traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
      group.traits.prepares = routine.prepares;
      group.axes = {axis("routine", {routine.name}), axis("default", {routine.is_default})};
      group.axes.insert(group.axes.end(), routine.axes.begin(), routine.axes.end());
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

class LibraryFamily final : public Family, public Exportable {
 public:
  LibraryFamily(std::string name, LibraryFacts library, std::vector<Routine> routines)
      : name_(std::move(name)),
        library_(std::move(library)),
        routines_(std::move(routines)),
        space_(groups_of(routines_)) {}

  std::string_view name() const override { return name_; }
  const Exportable* exportable() const override { return this; }

  Result<KernelExport> export_row(const KernelMetadata& row, const Problem& problem,
                                  const ExportOptions& options) const override {
    const Routine* routine = find(row);
    if (routine == nullptr || !routine->export_call)
      return fail(ErrorCode::unsupported,
                  "{} of {} is more than a call of the library that source could repeat; a tuned "
                  "table ships it (sweep --save-table, then TunedTable in the program)",
                  row.name(), library_.name);
    return routine->export_call(problem, options);
  }

 private:
  const Routine* find(const KernelMetadata& row) const {
    for (const Routine& routine : routines_)
      if (row.design["routine"] == routine.name) return &routine;
    return nullptr;
  }

  void do_enumerate(const Query& query, const MetadataSink& sink) const override {
    space_.enumerate(query, sink);
  }

  Refusals do_supports(const KernelMetadata& row, const Problem& problem,
                       const Target&) const override {
    Refusals refusals;
    const Routine* routine = find(row);
    if (routine == nullptr)
      refusals.add(Reason::other, "the library has no such routine");
    else if (routine->check)
      routine->check(row, problem, refusals);
    return refusals;
  }

  Result<Artifact> do_compile(const KernelMetadata& row, const MaskedProblem&, const Target&,
                              const CompileContext&) const override {
    return library_.library->artifact(library_.name, row, library_.facts);
  }

  size_t do_workspace_bytes(const KernelMetadata& row, const Problem& problem,
                            int threads) const override {
    const Routine* routine = find(row);
    if (routine == nullptr || !routine->workspace_bytes) return 0;
    return routine->workspace_bytes(row, problem, threads);
  }

  Status do_prepare(const KernelMetadata& row, const Binding& binding,
                    Prepared& prepared) const override {
    const Routine* routine = find(row);
    if (routine == nullptr || !routine->prepare) return {};
    return routine->prepare(row, binding, prepared);
  }

  Status do_bind(const KernelMetadata& row, const Binding& binding,
                 std::vector<Step>& steps) const override {
    const Routine* routine = find(row);
    if (routine == nullptr) return fail(ErrorCode::internal, "no such routine");
    ASSAY_TRY(library_.library->check(binding.artifact));
    ASSAY_TRY(HostStep step, routine->bind(row, binding));
    steps.push_back(std::move(step));
    return {};
  }

  std::string name_;
  LibraryFacts library_;
  std::vector<Routine> routines_;
  DesignSpace space_;
};

}  // namespace

const std::string& LoadedLibrary::sha256() const {
  std::call_once(hash_once_, [&] {
    if (!label_.empty()) {
      sha256_ = sha256_hex(content_);
      return;
    }
    const auto hash = sha256_of_file(path());
    sha256_ = hash ? *hash : "unreadable";
  });
  return sha256_;
}

Artifact LoadedLibrary::artifact(std::string_view library, const KernelMetadata& row,
                                 Json facts) const {
  facts["library"] = library;
  facts["routine"] = row.design.text("routine", "");
  facts["path"] = path();
  facts["sha256"] = sha256();
  return Artifact::without_bytes(std::move(facts));
}

Status LoadedLibrary::check(const Artifact& artifact) const {
  const auto fact = [&](const char* name) -> std::string {
    const Json& facts = artifact.facts;
    const auto found = facts.is_object() ? facts.find(name) : facts.end();
    return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const bool is_file = label_.empty();
  if ((is_file && fact("path") == path()) || fact("sha256") == sha256()) return {};
  return fail(ErrorCode::failed, "the artifact is of '{}', but '{}' is loaded", fact("path"),
              path());
}

std::shared_ptr<const Family> make_library_family(std::string name, LibraryFacts library,
                                                  std::vector<Routine> routines) {
  for (Routine& routine : routines) routine = with_epilogue_behind(std::move(routine));
  return std::make_shared<LibraryFamily>(std::move(name), std::move(library), std::move(routines));
}

}  // namespace assay
