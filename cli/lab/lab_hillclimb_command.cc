#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/json.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/lab/climb/climb.h"
#include "assay/report/attempt_report.h"
#include "cli/exit_code.h"
#include "cli/flags/number.h"
#include "cli/flags/quantities.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_drawing.h"
#include "cli/lab/lab_webhook.h"
#include "cli/own_environment.h"

namespace assay::cli {
namespace {

constexpr double kMostNumber = 1e300;

class LabHillclimbCommand : public Command {
 public:
  const char* name() const override { return "hillclimb"; }
  const char* summary() const override {
    return "Let a program change the workspace, turn by turn, and keep what is proven";
  }
  const char* example() const override {
    return "assay lab hillclimb --iterations 20 -- ./my_agent.sh";
  }
  const char* description() const override {
    return "The program runs in a copy of the case that holds the best state so far. It reads a "
           "brief on stdin (or from $ASSAY_BRIEF), changes files below workspace/, and may "
           "describe "
           "its change in the YAML file $ASSAY_ATTEMPT. Your own workspace is never written; "
           "`assay "
           "lab apply` brings an attempt into it. The same command goes on where a climb was "
           "stopped. The program has your user's rights. The code is 1 if it failed in every turn "
           "or "
           "three times in a row, or if the best state does not hold on what is held out.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--iterations", turns_, "Turns of climbs under this run tag in all")
        .range(1, 1'000'000)
        .type_name("N");
    app.add_option("--budget", budget_, "End after this time: 90m").type_name("TIME");
    app.add_option("--patience", patience_, "End after so many turns in a row that kept nothing")
        .range(1, 1'000'000)
        .type_name("N");
    app.add_option("--until", until_, "End when the objective has reached this value")
        .type_name("VALUE");
    app.add_option("--budget-usd", usd_, "End when this climb's turns have cost so many dollars")
        .type_name("X");
    app.add_option("--budget-tokens", tokens_, "End when they have cost so many tokens")
        .type_name("N");
    app.add_option("--from", from_, "Begin at the files of this attempt, kept or not")
        .type_name("ID");
    app.add_option("--agents", agents_, "So many agents think side by side")
        .range(1, 64)
        .type_name("N")
        .show_default();
    app.add_flag("--no-branch", no_branch_,
                 "Make no commits of what is kept on the branch assay/MODEL/CASE/TAG");
    app.add_flag("--confine", confine_,
                 "The agent may write its own copy of the case alone (bubblewrap)");
    app.add_option("--run-tag", run_tag_, "The climb's name (default: ASSAY_RUN_TAG, or of today)")
        .type_name("NAME");
    app.add_flag("--no-webhook", no_webhook_, "Tell nobody");
    app.add_option("program", program_, "The agent and its arguments, behind --")
        .type_name("PROGRAM");
  }

  Result<int> run(Context& context) override {
    ASSAY_TRY(const LabPlace place, case_.find());
    ASSAY_TRY(check_case_hardware(place.target, context));
    ASSAY_TRY(lab::ClimbOptions options, make_options(place, context));
    options.evaluate.tell = tell_webhook(context, place);
    Console& console = context.console;
    lab::ClimbObserver observer;
    observer.evaluate = evaluate_observer(console);
    Json attempts = Json::array();
    observer.on_attempt = [&](const lab::Evaluated& evaluated) {
      attempts.push_back(to_json(evaluated.record));
      if (const Status renewed = renew_report(context, place); !renewed)
        console.note(renewed.error().message);
      if (console.live()) console.finish_redraw();
      if (!console.json())
        console.result(report::attempt_text(evaluated.record, style_of(console)) + '\n');
    };
    observer.on_skip = [&](const std::string& sentence) {
      console.note("no attempt: " + sanitize(sentence, 400));
    };
    ASSAY_TRY(const lab::Climbed climbed, lab::climb(place.lab, place.target, options, observer));
    const bool holds =
        !climbed.held_out || climbed.held_out->record.outcome == AttemptOutcome::keep;
    if (!no_webhook_)
      tell_end(context, place, options.evaluate.run_tag,
               climbed.end + (holds ? "" : "; the best state does not hold on what is held out"));
    console.result(console.json() ? dump_pretty({{"schema", "assay.lab_climb/1"},
                                                 {"run_tag", options.evaluate.run_tag},
                                                 {"turns", climbed.turns},
                                                 {"kept", climbed.kept},
                                                 {"failed", climbed.failed},
                                                 {"end", climbed.end},
                                                 {"branch", climbed.branch},
                                                 {"held_out", held_out_json(climbed)},
                                                 {"attempts", attempts}})
                                  : text_of(climbed, options.evaluate.run_tag));
    if (climbed.spoiled) return kMachineFailed;
    return holds && !climbed.gave_up ? kDone : kRefuted;
  }

 private:
  static Json held_out_json(const lab::Climbed& climbed) {
    return climbed.held_out ? to_json(climbed.held_out->record) : Json(nullptr);
  }

  static std::string text_of(const lab::Climbed& climbed, const std::string& run_tag) {
    std::string text = fmt::format("climb     {}, {}, {} kept; {}\n", run_tag,
                                   counted(climbed.turns, "turn"), climbed.kept, climbed.end);
    if (!climbed.branch.empty()) text += fmt::format("branch    {}\n", climbed.branch);
    if (climbed.held_out)
      text += fmt::format("held out  {}: {}\n", to_string(climbed.held_out->record.outcome),
                          sanitize(climbed.held_out->record.reason, 400));
    return text;
  }

  Result<lab::ClimbOptions> make_options(const LabPlace& place, Context& context) const {
    lab::ClimbOptions options;
    ASSAY_TRY(options.evaluate, evaluate_options(context, run_tag_));
    options.evaluate.no_webhook = no_webhook_;
    options.evaluate.waits = true;
    options.agent = program_;
    options.agent_environment = options.evaluate.environment;
    if (const auto& agent = place.target.agent) {
      if (options.agent.empty()) options.agent = agent->command;
      options.agent_seconds = agent->timeout_seconds;
      for (const std::string& name : agent->passed_variables)
        if (const auto value = environment_value(name))
          options.agent_environment.push_back(name + '=' + *value);
    }
    if (options.agent.empty())
      return fail(
          ErrorCode::invalid_input,
          "hillclimb: which agent? Give its command behind --, or `agent: {{command: [...]}}` "
          "in case.yaml");
    // A path is the agent's own business: it begins in a copy of the case. So is what it sees where
    // it is confined.
    if (const std::string& program = options.agent.front();
        !confine_ && program.find('/') == std::string::npos &&
        find_along_path(program, options.agent_environment).empty())
      return fail(ErrorCode::invalid_input, "hillclimb: there is no program '{}' along PATH",
                  sanitize(program, 200));
    if (turns_ > 0) options.turns = turns_;
    if (patience_ > 0) options.patience = patience_;
    if (!budget_.empty()) {
      ASSAY_TRY(options.seconds, parse_seconds(budget_, "--budget"));
    }
    if (!until_.empty()) {
      ASSAY_TRY(options.until, parse_number(until_, "--until", -kMostNumber, kMostNumber));
    }
    if (!usd_.empty()) {
      ASSAY_TRY(options.usd, parse_number(usd_, "--budget-usd", 0.01, 1e9));
    }
    if (!tokens_.empty()) {
      ASSAY_TRY(const double tokens, parse_number(tokens_, "--budget-tokens", 1, 1e12));
      options.tokens = static_cast<std::int64_t>(tokens);
    }
    options.agents = agents_;
    options.confine = confine_;
    options.branch = !no_branch_;
    if (!from_.empty()) {
      ASSAY_TRY(const lab::HistoryContent content, history_of(context, place));
      ASSAY_TRY(options.from, find_attempt(content, from_));
    }
    if (!options.turns && !options.seconds && !options.patience && !options.until && !options.usd &&
        !options.tokens)
      return fail(ErrorCode::invalid_input,
                  "hillclimb: when does it end? Give --iterations, --budget, --budget-usd, "
                  "--budget-tokens, --patience or --until");
    return options;
  }

  CaseFlag case_;
  int turns_ = 0, patience_ = 0, agents_ = 1;
  std::string budget_, until_, usd_, tokens_, from_, run_tag_;
  bool no_webhook_ = false, confine_ = false, no_branch_ = false;
  std::vector<std::string> program_;
};

}  // namespace

std::unique_ptr<Command> make_lab_hillclimb_command() {
  return std::make_unique<LabHillclimbCommand>();
}

}  // namespace assay::cli
