#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/report/attempt_report.h"
#include "cli/exit_code.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"

namespace assay::cli {
namespace {

class LabReplayCommand : public Command {
 public:
  const char* name() const override { return "replay"; }
  const char* summary() const override { return "Measure an attempt again, against its parent"; }
  const char* example() const override { return "assay lab replay 12"; }
  const char* description() const override {
    return "The attempt's tree and variables are built and measured against those that it was "
           "measured against then. The word is held, refuted or unsure; the code is 0 when it "
           "held, "
           "and 1 otherwise. The history stays as it is.";
  }

  void declare(Flags& app) override { attempt_.declare(app); }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const auto found, attempt_.find(context));
    const auto& [place, content, attempt] = found;
    ASSAY_TRY(check_case_hardware(place.target, context));
    if (!attempt.outcome || *attempt.outcome == AttemptOutcome::interrupted)
      return fail(ErrorCode::invalid_input,
                  "attempt {} was not measured to its end, so there is nothing to hold",
                  attempt.seq);
    ASSAY_TRY(lab::EvaluateOptions options, evaluate_options(context, attempt.run_tag));
    options.overrides = attempt.env;
    options.lane = attempt.lane;
    options.target = attempt.target;
    ASSAY_TRY(const lab::Replayed replayed, lab::replay(place.lab, place.target, attempt, options,
                                                        evaluate_observer(context.console)));
    Console& console = context.console;
    if (console.live()) console.finish_redraw();
    if (console.json())
      console.result(dump_pretty({{"schema", "assay.lab_replay/1"},
                                  {"id", attempt.id},
                                  {"word", replayed.word},
                                  {"then", to_string(*attempt.outcome)},
                                  {"record", to_json(replayed.record)}}));
    else
      console.result(fmt::format("replay    attempt {} {}: it was {}, and now it is {}\n",
                                 attempt.seq, replayed.word, to_string(*attempt.outcome),
                                 to_string(replayed.record.outcome)) +
                     fmt::format("          {}\n", sanitize(replayed.record.reason, 400)));
    return replayed.word == "held" ? kDone : kRefuted;
  }

 private:
  AttemptFlag attempt_;
};

}  // namespace

std::unique_ptr<Command> make_lab_replay_command() { return std::make_unique<LabReplayCommand>(); }

}  // namespace assay::cli
