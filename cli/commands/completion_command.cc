#include <fmt/format.h>

#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/files/new_file.h"
#include "cli/flags/command_line.h"
#include "cli/help/completion.h"

namespace assay::cli {
namespace {

class CompletionCommand : public Command {
 public:
  const char* name() const override { return "completion"; }
  const char* summary() const override {
    return "Completion of commands, flags, providers and suites for a shell";
  }
  const char* example() const override { return "source <(assay completion bash)"; }

  void declare(Flags& app) override {
    app.add_option("shell", shell_, "Which shell")
        .required()
        .one_of({"bash", "zsh", "fish"})
        .type_name("bash|zsh|fish");
    app.add_option("--output", output_,
                   "Where the script goes (default: stdout); nothing is overwritten")
        .type_name("FILE");
  }

  Result<int> run(Context& context) override {
    const CommandLine line;
    const CommandEntry program = describe(line);
    const std::string script = shell_ == "bash"  ? bash_completion(program)
                               : shell_ == "zsh" ? zsh_completion(program)
                                                 : fish_completion(program);
    Json said = {{"schema", "assay.completion/1"}, {"shell", shell_}};
    if (output_.empty()) {
      said["script"] = script;
    } else {
      ASSAY_TRY(write_new_file(output_, script, "--output"));
      said["output"] = output_;
    }
    context.console.result(context.console.json() ? dump_pretty(said)
                           : output_.empty()      ? script
                                             : fmt::format("wrote {}\n", sanitize(output_, 1000)));
    return kDone;
  }

 private:
  std::string shell_, output_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace assay::cli
