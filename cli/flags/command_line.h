#pragma once

// Every command and flag there is, declared once: parsing, help, completion and man pages come from
// it.

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"

namespace assay::cli {

// Flags of all commands.
struct Globals {
  bool json = false, quiet = false, version = false;
  std::string colour = "auto", device, config;
  int verbosity = 0;

  void declare(Flags& app);
};

class CommandLine {
 public:
  CommandLine();
  CommandLine(const CommandLine&) = delete;  // The definitions point into it.
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  CLI::App& app() { return *app_; }
  const CLI::App& app() const { return *app_; }
  Globals& globals() { return globals_; }
  const std::vector<std::unique_ptr<Command>>& commands() const { return commands_; }

 private:
  std::vector<std::unique_ptr<Command>> commands_;
  Globals globals_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace assay::cli
