#include "cli/command_line.h"

#include <CLI/CLI.hpp>

namespace assay::cli {
void Globals::declare(Flags& app) {
  app.add_flag("--json", json, "Machine output on stdout, nothing else there");
  app.add_flag("--quiet,-q", quiet, "No progress");
  app.add_flag("-v,--verbose", verbosity, "Say more");
  app.add_option("--color", colour, "auto, always or never")
      .one_of({"auto", "always", "never"})
      .type_name("auto|always|never");
  app.add_option(
         "--device", device,
         "What to run on: cpu, gpu (the first card), a card's index, UUID or name (default: cpu; "
         "of race the first card where its files are code for cards)")
      .type_name("DEVICE");
  app.add_option("--config", config, "Defaults for flags, settings of providers (YAML)")
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
  for (const auto& command : commands_) {
    CLI::App* sub = app_->add_subcommand(command->name(), command->summary());
    Flags own(*sub);
    command->declare(own);
  }
}

CommandLine::~CommandLine() = default;

}  // namespace assay::cli
