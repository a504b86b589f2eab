#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/climb/reablate.h"
#include "assay/report/attempt_report.h"
#include "cli/exit_code.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"
#include "cli/lab/lab_webhook.h"

namespace assay::cli {
namespace {

class LabReablateCommand : public Command {
 public:
  const char* name() const override { return "reablate"; }
  const char* summary() const override {
    return "Test older wins again: the best state without each, one by one";
  }
  const char* example() const override { return "assay lab reablate"; }
  const char* description() const override {
    return "A win of weeks ago may cost time since a later change. Each kept attempt, or those "
           "that are named, is taken out of the best state, and what is left is an attempt of its "
           "own. Where that is kept, the win had become a loss. Where the change cannot be taken "
           "out alone, this is said.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("attempts", names_, "Which wins (default: all but the last)").type_name("ID");
    app.add_option("--run-tag", run_tag_, "The climb that the attempts belong to")
        .type_name("NAME");
    app.add_flag("--no-webhook", no_webhook_, "Tell nobody");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(check_case_hardware(place.target, context));
    ASSAY_TRY(lab::EvaluateOptions options, evaluate_options(context, run_tag_));
    options.no_webhook = no_webhook_;
    options.tell = tell_webhook(context, place);
    ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
    std::vector<lab::Attempt> wins;
    for (const std::string& name : names_) {
      ASSAY_TRY(lab::Attempt attempt, find_attempt(content, name));
      wins.push_back(std::move(attempt));
    }
    if (names_.empty()) {
      ASSAY_TRY(wins, lab::older_wins(place.lab, place.target, options, content));
    }
    Console& console = context.console;
    Json list = Json::array();
    std::string text;
    for (const lab::Attempt& win : wins) {
      ASSAY_TRY(const lab::Reablated again,
                lab::reablate(place.lab, place.target, win, options, evaluate_observer(console)));
      if (console.live()) console.finish_redraw();
      list.push_back({{"attempt", win.seq},
                      {"word", again.word},
                      {"reason", again.reason},
                      {"measured_as", again.measured_as}});
      text += fmt::format("{:<4} {:<12} {}\n", win.seq, again.word, sanitize(again.reason, 300));
      ASSAY_TRY(renew_report(context, place));
      if (again.interrupted) return kInterrupted;
    }
    if (wins.empty()) text = "there is no older win to test again\n";
    console.result(console.json() ? dump_pretty({{"schema", "assay.lab_reablate/1"},
                                                 {"attempts", std::move(list)}})
                                  : text);
    return kDone;
  }

 private:
  CaseFlag case_;
  std::vector<std::string> names_;
  std::string run_tag_;
  bool no_webhook_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_reablate_command() {
  return std::make_unique<LabReablateCommand>();
}

}  // namespace assay::cli
