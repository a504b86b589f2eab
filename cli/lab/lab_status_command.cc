#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/lab/attempt_words.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_standing.h"

namespace assay::cli {
namespace {

class LabStatusCommand : public Command {
 public:
  const char* name() const override { return "status"; }
  const char* summary() const override { return "Where a case stands: its climb, its best state"; }
  const char* example() const override { return "assay lab status"; }

  void declare(Flags& app) override { case_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(const Standing standing, standing_of(context, place));
    const auto& [content, tree, series, tag] = standing;
    const auto of_tag = std::ranges::count(content.attempts, tag, &lab::Attempt::run_tag);
    const lab::Attempt* best = content.incumbent(series.id);
    if (context.console.json()) {
      context.console.result(
          dump_pretty({{"schema", "assay.lab_status/1"},
                       {"case", place.target.name},
                       {"run_tag", tag},
                       {"attempts_of_tag", of_tag},
                       {"attempts", content.attempts.size()},
                       {"series", series.id},
                       {"incumbent", best == nullptr ? Json(nullptr) : Json(best->id)},
                       {"workspace_is_incumbent",
                        best != nullptr && best->tree == lab::workspace_part(tree).hash()}}));
      return kDone;
    }
    std::string text = fmt::format(
        "case      {}\nrun tag   {}, {}\n", sanitize(place.target.name, 200), sanitize(tag, 80),
        of_tag == 0 ? "fresh" : counted(static_cast<int64_t>(of_tag), "attempt"));
    if (best == nullptr) {
      text += fmt::format(
          "best      none yet{}; `assay lab eval` makes the baseline\n",
          content.attempts.empty() ? "" : ": what judges has changed since the last attempt");
    } else {
      const std::string value = best->primary ? ", " + value_text(*best->primary) : "";
      text += fmt::format(
          "best      attempt {}{}\nworkspace {}\n", best->seq, value,
          best->tree == lab::workspace_part(tree).hash() ? "as it was kept" : "changed since");
    }
    context.console.result(text);
    return kDone;
  }

 private:
  CaseFlag case_;
};

}  // namespace

std::unique_ptr<Command> make_lab_status_command() { return std::make_unique<LabStatusCommand>(); }

}  // namespace assay::cli
