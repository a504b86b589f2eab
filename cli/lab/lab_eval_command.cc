#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/env_defaults.h"
#include "assay/lab/evaluate/evaluate.h"
#include "assay/report/attempt_report.h"
#include "cli/exit_code.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"
#include "cli/lab/lab_webhook.h"

namespace assay::cli {
namespace {

// Files of the history hold so much of each.
constexpr size_t kMostDescription = 200, kMostHypothesis = 300;

class LabEvalCommand : public Command {
 public:
  const char* name() const override { return "eval"; }
  const char* summary() const override {
    return "Evaluate the workspace as it is: build, check, measure, keep or discard";
  }
  const char* example() const override {
    return "assay lab eval --description \"unroll by 8\" --family unroll";
  }
  const char* description() const override {
    return "The first attempt of a series is its baseline, held against itself for the noise. "
           "Every "
           "later one is measured side by side with the best state so far, and kept when the gain "
           "is "
           "proven. The workspace is copied before anything runs, so your files stay as they are. "
           "The code is 0 for keep, near_tie and discard, and 1 for any other ending.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--description", description_, "What was changed, in a line").type_name("TEXT");
    app.add_option("--hypothesis", hypothesis_, "Why it should help").type_name("TEXT");
    app.add_option("--family", family_, "The family of changes that it is of").type_name("NAME");
    app.add_option("--target", target_, "What of the model it is about: mlp_boundary ...")
        .type_name("NAME");
    app.add_option("--lane", lane_, "Measure in this lane of case.yaml alone").type_name("NAME");
    app.add_option("--run-tag", run_tag_, "The climb that it belongs to (default: ASSAY_RUN_TAG)")
        .type_name("NAME");
    app.add_option("--env", variables_, "A variable of the candidate alone; several times")
        .type_name("NAME=VALUE")
        .several_words(false);
    app.add_option("--promote", promoted_,
                   "Write the variables of this attempt into workspace/backend/env.defaults first")
        .type_name("ID");
    app.add_flag("--again", again_, "Measure what was measured already");
    app.add_flag("--profile", profile_, "Also see where its time goes, where that is not due");
    app.add_flag("--no-webhook", no_webhook_, "Tell nobody");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(check_case_hardware(place.target, context));
    if (!promoted_.empty()) ASSAY_TRY(promote(context, place));
    ASSAY_TRY(lab::EvaluateOptions options, make_options(place, context));
    options.tell = tell_webhook(context, place);
    ASSAY_TRY(const lab::Evaluated evaluated,
              lab::evaluate(place.lab, place.target, options, evaluate_observer(context.console)));
    ASSAY_TRY(renew_report(context, place));
    return show(context, place, evaluated);
  }

 private:
  Status promote(const Context& context, const LabPlace& place) const {
    if (!variables_.empty())
      return fail(ErrorCode::invalid_input,
                  "--promote: the defaults are evaluated without overrides; leave --env out");
    ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
    ASSAY_TRY(const lab::Attempt attempt, find_attempt(content, promoted_));
    if (attempt.env.empty())
      return fail(ErrorCode::invalid_input, "--promote: attempt {} set no variables", attempt.seq);
    ASSAY_TRY(lab::Environment defaults, lab::read_env_defaults(place.target.folder));
    for (const auto& [name, value] : attempt.env) defaults[name] = value;
    std::string text = "# Variables that everything of this workspace runs with: NAME=value.\n";
    for (const auto& [name, value] : defaults) text += fmt::format("{}={}\n", name, value);
    const auto path = place.target.folder / "workspace" / "backend" / "env.defaults";
    ASSAY_TRY(make_directories(path.parent_path().string()));
    return write_file_atomic(path.string(), text);
  }

  Result<std::string> one_line(const char* flag, const std::string& text, size_t most) const {
    if (text.size() <= most && text.find('\n') == std::string::npos)
      return sanitize(text, most + 8);
    return fail(ErrorCode::invalid_input, "{}: one line of at most {} characters", flag, most);
  }

  Result<lab::EvaluateOptions> make_options(const LabPlace& place, Context& context) const {
    ASSAY_TRY(lab::EvaluateOptions options, evaluate_options(context, run_tag_));
    ASSAY_TRY(options.description, one_line("--description", description_, kMostDescription));
    ASSAY_TRY(options.hypothesis, one_line("--hypothesis", hypothesis_, kMostHypothesis));
    ASSAY_TRY(options.family, short_name("--family", family_));
    ASSAY_TRY(options.target, short_name("--target", target_));
    ASSAY_TRY(options.overrides, lab::parse_overrides(variables_, place.target.allowed_variables));
    options.lane = lane_;
    options.again = again_;
    options.no_webhook = no_webhook_;
    options.profile = profile_;
    return options;
  }

  static int code_of(const lab::Evaluated& evaluated) {
    if (evaluated.spoiled) return kMachineFailed;
    if (evaluated.record.outcome == AttemptOutcome::interrupted) return kInterrupted;
    return is_decided(evaluated.record.outcome) ? kDone : kRefuted;
  }

  static Result<int> show(Context& context, const LabPlace& place,
                          const lab::Evaluated& evaluated) {
    Console& console = context.console;
    if (console.live()) console.finish_redraw();
    if (!evaluated.duplicate_of.empty())
      console.note(fmt::format("attempt {} was the same, and is not measured again without --again",
                               evaluated.record.seq));
    if (console.json()) {
      console.result(dump_pretty(to_json(evaluated.record)));
      return code_of(evaluated);
    }
    console.result(
        report::attempt_text(evaluated.record, style_of(console)) +
        fmt::format(
            "record    {}\n",
            sanitize(evaluated.record_path.lexically_relative(place.target.folder).string(), 300)));
    return code_of(evaluated);
  }

  CaseFlag case_;
  std::string description_, hypothesis_, family_, target_, lane_, run_tag_, promoted_;
  std::vector<std::string> variables_;
  bool again_ = false, no_webhook_ = false, profile_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_eval_command() { return std::make_unique<LabEvalCommand>(); }

}  // namespace assay::cli
