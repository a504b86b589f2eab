#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace assay::cli {
namespace {

// Flags that take one word each time they are given are no lists, though they collect.
class OneWord final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const size_t dots = text.find(" ...");
    if (dots != std::string::npos && !option->get_positional() && !option->get_allow_extra_args())
      text.erase(dots, 4);
    return text;
  }
};

}  // namespace

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
  app_->formatter(std::make_shared<OneWord>());  // Subcommands inherit it.
  Flags flags(*app_);
  globals_.declare(flags);
  app_->footer(
      "assay COMMAND --help says more. Exit codes: 0 done, 1 refuted or no winner, 2 bad "
      "input,\n3 records missing or stale, 4 nothing could run, 5 the machine failed, 130 "
      "interrupted.");
  for (const auto& command : commands_) {
    CLI::App* sub = app_->add_subcommand(command->name(), command->summary());
    Flags own(*sub);
    command->declare(own);
    sub->footer(fmt::format(
        "Example: {}\nAlso: --json, --quiet, -v, --color, --device, --config (assay --help)",
        command->example()));
  }
}

CommandLine::~CommandLine() = default;

}  // namespace assay::cli
