#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/counted.h"
#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/lab/evaluate/env_defaults.h"
#include "assay/lab/evaluate/parity.h"
#include "assay/lab/evaluate/program_runner.h"
#include "assay/load/parity_prompts.h"
#include "assay/load/ready.h"
#include "cli/exit_code.h"
#include "cli/flags/quantities.h"
#include "cli/lab/evaluate_setup.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"
#include "cli/load/started_server.h"

namespace assay::cli {
namespace {

class LabParityCommand : public Command {
 public:
  const char* name() const override { return "parity"; }
  const char* summary() const override {
    return "Ask a case its parity prompts, and print the answers' tokens or check them";
  }
  const char* example() const override { return "assay lab parity > parity/reference.jsonl"; }
  const char* description() const override {
    return "The case's server is started, asked each prompt at temperature 0, and ended. Each line "
           "on stdout is {id, tokens, logits}: tokens by the server's /tokenize, or bytes of the "
           "text where it has none; logits are the two largest log probabilities of each token, if "
           "the server says them. Prompts are lines of {id, prompt} or {id, messages}, with "
           "max_tokens (default 32). If `parity` of case.yaml has a command, that is asked "
           "instead. "
           "An attempt asks in the same way.";
  }

  void declare(Flags& app) override {
    case_.declare(app);
    app.add_option("--prompts", prompts_, "The prompts (default: parity.prompts of case.yaml)")
        .type_name("FILE");
    app.add_option("--start", started_,
                   "A word of a program that serves at {port}, in place of the case's server; one "
                   "flag a word")
        .type_name("WORD")
        .several_words(false);
    app.add_flag("--check", check_,
                 "Hold the answers against parity.reference of case.yaml; code 1 if they differ");
    app.add_option("--ready-timeout", ready_, "What the server has from its start until it answers")
        .type_name("TIME")
        .show_default();
  }

  Result<int> run(Context& context) override {
    if (check_ && !(started_.empty() && prompts_.empty()))
      return fail(ErrorCode::invalid_input,
                  "--check: the reference is of the case's own prompts and server; leave --prompts "
                  "and --start out");
    std::string answers;
    std::vector<std::string> words = started_;
    std::string file = prompts_;
    if (words.empty() || file.empty()) {
      ASSAY_TRY(const LabPlace place, case_.find());
      if (started_.empty() && place.target.parity && !place.target.parity->command.empty()) {
        ASSAY_TRY(answers, ask_command(place, context));
        return finish(context, answers);
      }
      if (file.empty()) {
        ASSAY_TRY(file, prompts_of(place));
      }
      if (words.empty())
        words = {"/proc/self/exe", "serve", "--case", place.target.folder.string(),
                 "--port",         "{port}"};
    }
    ASSAY_TRY(const auto prompts, load::read_parity_prompts(file));
    ASSAY_TRY(const double ready, parse_seconds(ready_, "--ready-timeout"));
    ASSAY_TRY(const StartedServer server, StartedServer::start(words));
    load::LoadPlan plan;
    ASSAY_TRY(plan.server, net::parse_url(server.base_url()));
    ASSAY_TRY(load::await_ready(plan, ready, context.cancel_fd,
                                [&server] { return server.may_get_ready(); }));
    ASSAY_TRY(plan.shape.model, load::only_model(plan, context.cancel_fd));
    for (const load::ParityPrompt& prompt : prompts) {
      context.console.progress(fmt::format("{} ...", sanitize(prompt.id, 80)));
      ASSAY_TRY(const Json line, load::ask_parity_prompt(plan, prompt, context.cancel_fd));
      if (!check_) context.console.result(canonical(line) + '\n');
      answers += canonical(line) + '\n';
    }
    return check_ ? finish(context, answers) : kDone;
  }

 private:
  // By the command of case.yaml, as an attempt asks it.
  Result<std::string> ask_command(const LabPlace& place, Context& context) const {
    const lab::Parity& parity = *place.target.parity;
    ASSAY_TRY(const lab::EvaluateOptions options, evaluate_options(context, ""));
    lab::RunnerOptions running;
    running.environment = options.environment;
    running.cancel_fd = context.cancel_fd;
    ASSAY_TRY(lab::Environment environment, lab::read_env_defaults(place.target.folder));
    environment["ASSAY_PROMPTS"] = prompts_.empty()
                                       ? (place.target.folder / parity.prompts).string()
                                       : std::filesystem::absolute(prompts_).string();
    environment["ASSAY_WORKSPACE"] = (place.target.folder / "workspace").string();
    constexpr double kSeconds = 3600;
    ASSAY_TRY(const lab::ProgramRun run,
              lab::ProgramRunner(running).run("parity", parity.command, place.target.folder,
                                              environment, kSeconds));
    if (run.failure) return fail(ErrorCode::failed, "parity: {}", run.reason);
    return run.out;
  }

  Result<int> finish(Context& context, const std::string& text) const {
    if (!check_) {
      context.console.result(text);
      return kDone;
    }
    ASSAY_TRY(const LabPlace place, case_.find());
    if (!place.target.parity)
      return fail(ErrorCode::invalid_input, "--check: case.yaml has no `parity`");
    const std::string& name = place.target.parity->reference;
    ASSAY_TRY(const std::string known, read_file((place.target.folder / name).string()));
    ASSAY_TRY(const auto reference, lab::read_parity_answers(known, name));
    ASSAY_TRY(const auto answers, lab::read_parity_answers(text, "the answers"));
    const lab::ParityVerdict verdict = lab::compare_parity(reference, answers, 0);
    context.console.result(
        context.console.json()
            ? dump_pretty({{"schema", "assay.lab_parity/1"},
                           {"holds", verdict.holds},
                           {"prompts", verdict.prompts},
                           {"reason", verdict.reason}})
            : fmt::format("parity    {}\n", verdict.holds
                                                ? "holds for " + counted(verdict.prompts, "prompt")
                                                : "differs: " + verdict.reason));
    return verdict.holds ? kDone : kRefuted;
  }

  static Result<std::string> prompts_of(const LabPlace& place) {
    if (place.target.parity) return (place.target.folder / place.target.parity->prompts).string();
    return fail(ErrorCode::invalid_input,
                "{}: there is no `parity`: name the prompts there, or by --prompts",
                (place.target.folder / "case.yaml").string());
  }

  CaseFlag case_;
  std::string prompts_, ready_ = "600s";
  std::vector<std::string> started_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lab_parity_command() { return std::make_unique<LabParityCommand>(); }

}  // namespace assay::cli
