#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/series.h"
#include "assay/lab/files/tree.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"

namespace assay::cli {
namespace {

class LabApplyCommand : public Command {
 public:
  const char* name() const override { return "apply"; }
  const char* summary() const override { return "Bring an attempt's workspace into yours"; }
  const char* example() const override { return "assay lab apply 12"; }
  const char* description() const override {
    return "Writes the files in which the two differ. It refuses when your workspace holds what no "
           "attempt has kept, so that nothing of it is lost: evaluate it first.";
  }

  void declare(Flags& app) override { attempt_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const auto found, attempt_.find(context));
    const auto& [place, content, attempt] = found;
    ASSAY_TRY(const lab::Tree whole, lab::read_tree(place.target.folder));
    const lab::Tree mine = lab::workspace_part(whole);
    if (std::ranges::find(content.attempts, mine.hash(), &lab::Attempt::tree) ==
        content.attempts.end())
      return fail(ErrorCode::invalid_input,
                  "the workspace holds changes that no attempt has: evaluate it first (`assay lab "
                  "eval`), so that they can be found again");
    const lab::TreeStore store = found.trees();
    ASSAY_TRY(const lab::Tree wanted, store.get(attempt.tree));
    const std::vector<std::string> changes = lab::differences(mine, wanted);
    for (const std::string& line : changes) {
      std::error_code failed;
      if (!line.starts_with('+'))
        std::filesystem::remove(place.target.folder / line.substr(2), failed);
      if (failed) return fail(ErrorCode::machine, "{}: {}", line.substr(2), failed.message());
    }
    lab::Tree part;
    for (const lab::TreeFile& file : wanted.files)
      if (std::ranges::find(mine.files, file) == mine.files.end()) part.files.push_back(file);
    ASSAY_TRY(store.write(part, place.target.folder));
    if (context.console.json()) {
      context.console.result(
          dump_pretty({{"schema", "assay.lab_apply/1"}, {"id", attempt.id}, {"files", changes}}));
      return kDone;
    }
    std::string text = fmt::format("applied   attempt {}, {}\n", attempt.seq,
                                   counted(std::ssize(changes), "file"));
    for (const std::string& line : changes) text += "  " + sanitize(line, 300) + '\n';
    context.console.result(text);
    return kDone;
  }

 private:
  AttemptFlag attempt_;
};

}  // namespace

std::unique_ptr<Command> make_lab_apply_command() { return std::make_unique<LabApplyCommand>(); }

}  // namespace assay::cli
