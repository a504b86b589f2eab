#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/files/tree.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabDiffCommand : public Command {
 public:
  const char* name() const override { return "diff"; }
  const char* summary() const override { return "What an attempt changed, as a patch"; }
  const char* example() const override { return "assay lab diff 12"; }
  const char* description() const override {
    return "The workspace of an attempt against that of its parent, which it was measured against; "
           "by diff(1).";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("attempt", name_, "Its number, or the first letters of its id")
        .required()
        .type_name("ID");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const lab::HistoryContent content, lab::read_history(place.runs()));
    ASSAY_TRY(const lab::Attempt attempt, find_attempt(content, name_));
    const lab::TreeStore store(place.runs() / "objects");
    ASSAY_TRY(const lab::Tree now, store.get(attempt.tree));
    lab::Tree before;
    if (const lab::Attempt* parent = content.find(attempt.parent)) {
      ASSAY_TRY(before, store.get(parent->tree));
    }
    if (context.console.json()) {
      context.console.result(dump_pretty({{"schema", "assay.lab_diff/1"},
                                          {"id", attempt.id},
                                          {"parent", attempt.parent},
                                          {"files", lab::differences(before, now)}}));
      return kDone;
    }
    ASSAY_TRY(const std::string patch, patch_of(context, store, before, now));
    context.console.result(sanitize(patch, patch.size() + 1, Newlines::keep));
    return kDone;
  }

 private:
  // Only of what differs, in a folder of its own.
  static Result<std::string> patch_of(const Context& context, const lab::TreeStore& store,
                                      const lab::Tree& before, const lab::Tree& now) {
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    const std::filesystem::path root = folder.path();
    for (const auto& [name, tree, other] : {std::tuple{"a", &before, &now}, {"b", &now, &before}}) {
      std::error_code ignored;
      std::filesystem::create_directories(root / name, ignored);
      ASSAY_TRY(store.write(changed(*tree, *other), root / name));
    }
    SubprocessOptions options;
    options.argv = {"diff", "-ruN", "a", "b"};
    options.env = context.settings.child_environment;
    options.working_directory = folder.path();
    CommandLimits limits;
    limits.max_output = std::size_t{64} << 20;
    ASSAY_TRY(const CommandOutput output, run_command(options, limits));
    constexpr int kDiffer = 1;
    if (!output.status.success() && output.status.code != kDiffer)
      return fail(ErrorCode::failed, "diff {}: {}", output.status.describe(),
                  sanitize(output.err, 300));
    return output.out;
  }

  static lab::Tree changed(const lab::Tree& tree, const lab::Tree& other) {
    lab::Tree part;
    for (const lab::TreeFile& file : tree.files)
      if (std::ranges::find(other.files, file) == other.files.end()) part.files.push_back(file);
    return part;
  }

  CaseFlag case_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Command> make_lab_diff_command() { return std::make_unique<LabDiffCommand>(); }

}  // namespace assay::cli
