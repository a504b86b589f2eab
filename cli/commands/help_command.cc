#include <algorithm>

#include "assay/base/choices.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/flags/command_line.h"
#include "cli/help/help.h"

namespace assay::cli {
namespace {

class HelpCommand : public Command {
 public:
  const char* name() const override { return "help"; }
  const char* summary() const override { return "What a command does, and its flags"; }
  const char* example() const override { return "assay help race"; }

  void declare(Flags& app) override {
    app.add_option("command", path_, "Which command, such as lab eval; none: the program")
        .type_name("COMMAND");
  }

  Result<int> run(Context& context) override {
    const CommandLine line;
    const CommandEntry program = describe(line);
    ASSAY_TRY(const std::string text, help_text(program, context.console.width_out()));
    context.console.result(
        context.console.json() ? dump_pretty({{"schema", "assay.help/1"}, {"text", text}}) : text);
    return kDone;
  }

 private:
  Result<std::string> help_text(const CommandEntry& program, int width) const {
    if (path_.empty()) return program_help(program, width);
    ASSAY_TRY(const CommandEntry* const command, find_command(program, path_));
    return command_help(program, *command, width);
  }

  std::vector<std::string> path_;
};

}  // namespace

std::unique_ptr<Command> make_help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace assay::cli
