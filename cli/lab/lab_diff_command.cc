#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/files/tree.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"

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

  void declare(Flags& app) override { attempt_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const auto found, attempt_.find(context));
    const auto& [place, content, attempt] = found;
    if (context.console.json()) {
      const lab::TreeStore store = found.trees();
      ASSAY_TRY(const lab::Tree now, store.get(attempt.tree));
      lab::Tree before;
      if (const lab::Attempt* parent = content.find(attempt.parent)) {
        ASSAY_TRY(before, store.get(parent->tree));
      }
      context.console.result(dump_pretty({{"schema", "assay.lab_diff/1"},
                                          {"id", attempt.id},
                                          {"parent", attempt.parent},
                                          {"files", lab::differences(before, now)}}));
      return kDone;
    }
    if (attempt.parent.empty())
      context.console.note(fmt::format(
          "attempt {} had no parent, so all of its workspace is new to it", attempt.seq));
    ASSAY_TRY(const std::string patch, patch_of(context, found.trees(), content, attempt));
    context.console.result(sanitize(patch, patch.size() + 1, Newlines::keep));
    return kDone;
  }

 private:
  AttemptFlag attempt_;
};

}  // namespace

std::unique_ptr<Command> make_lab_diff_command() { return std::make_unique<LabDiffCommand>(); }

}  // namespace assay::cli
