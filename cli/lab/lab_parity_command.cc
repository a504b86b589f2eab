#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/load/parity_prompts.h"
#include "assay/load/ready.h"
#include "cli/exit_code.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/lab_place.h"
#include "cli/load/started_server.h"
#include "cli/quantities.h"

namespace assay::cli {
namespace {

class LabParityCommand : public Command {
 public:
  const char* name() const override { return "parity"; }
  const char* summary() const override {
    return "Ask the case's server its parity prompts, and print the answers' tokens";
  }
  const char* example() const override { return "assay lab parity > parity/reference.jsonl"; }
  const char* description() const override {
    return "The case's server is started, asked each prompt at temperature 0, and ended. Each line "
           "on stdout is {id, tokens, logits}: tokens by the server's /tokenize, or bytes of the "
           "text where it has none; logits are the two largest log probabilities of each token, if "
           "the server says them. Prompts are lines of {id, prompt} or {id, messages}, with "
           "max_tokens (default 32). An attempt asks in the same way when case.yaml has `parity` "
           "without a command.";
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
    app.add_option("--ready-timeout", ready_, "What the server has from its start until it answers")
        .type_name("TIME")
        .show_default();
  }

  Result<int> run(Context& context) override {
    std::vector<std::string> words = started_;
    std::string file = prompts_;
    if (words.empty() || file.empty()) {
      ASSAY_TRY(const LabPlace place, case_.find());
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
    ASSAY_TRY(load::await_ready(plan, ready, context.cancel_fd));
    ASSAY_TRY(plan.shape.model, load::only_model(plan, context.cancel_fd));
    for (const load::ParityPrompt& prompt : prompts) {
      context.console.progress(fmt::format("{} ...", sanitize(prompt.id, 80)));
      ASSAY_TRY(const Json line, load::ask_parity_prompt(plan, prompt, context.cancel_fd));
      context.console.result(canonical(line) + '\n');
    }
    return kDone;
  }

 private:
  static Result<std::string> prompts_of(const LabPlace& place) {
    if (place.target.parity) return (place.target.folder / place.target.parity->prompts).string();
    return fail(ErrorCode::invalid_input,
                "{}: there is no `parity`: name the prompts there, or by --prompts",
                (place.target.folder / "case.yaml").string());
  }

  CaseFlag case_;
  std::string prompts_, ready_ = "600s";
  std::vector<std::string> started_;
};

}  // namespace

std::unique_ptr<Command> make_lab_parity_command() { return std::make_unique<LabParityCommand>(); }

}  // namespace assay::cli
