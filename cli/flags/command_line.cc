#include "cli/flags/command_line.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

void add_command(CLI::App& parent, Command& command) {
  CLI::App* app = parent.add_subcommand(command.name(), command.summary());
  Flags own(*app);
  command.declare(own);
  for (const auto& below : command.commands()) add_command(*app, *below);
}

}  // namespace

void Globals::declare(Flags& app) {
  app.add_flag("--json", json, "Write JSON to stdout, and nothing else");
  app.add_flag("--quiet,-q", quiet, "Show no progress");
  app.add_flag("-v,--verbose", verbosity, "Say more");
  app.add_option("--color", colour, "When to colour the output (default: auto)")
      .one_of({"auto", "always", "never"})
      .type_name("auto|always|never");
  app.add_option(
         "--device", device,
         "What to run on: cpu, gpu (the first one), or a GPU's index, UUID or name (default: cpu; "
         "the first GPU for files that are GPU code)")
      .type_name("DEVICE");
  app.add_option("--config", config, "A YAML file with defaults of flags and settings of providers")
      .type_name("FILE");
  app.add_flag("--version", version, "Print version and build");
}

CommandLine::CommandLine()
    : commands_(all_commands()),
      app_(std::make_unique<CLI::App>(
          "Which kernel is fastest for my shapes, and does mine really beat the best stock one?",
          "assay")) {
  app_->require_subcommand(0, 1);
  app_->fallthrough();
  Flags flags(*app_);
  globals_.declare(flags);
  for (const auto& command : commands_) add_command(*app_, *command);
}

CommandLine::~CommandLine() = default;

}  // namespace assay::cli
