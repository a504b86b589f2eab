#pragma once

// A subcommand: declares its flags, then runs. One file each; program.cc lists them.

#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "cli/console.h"
#include "cli/settings.h"

namespace CLI {
class App;
}

namespace assay::cli {

// What every subcommand is given: the console, the settings, and the words it was called with.
struct Context {
  Console& console;
  const Settings& settings;
  std::vector<std::string> command_line;
  int cancel_fd = -1;   // Readable once the user asked to stop (Ctrl-C).
};

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual void declare(CLI::App& app) = 0;
  // The exit code, or an error whose code maps to one (exit_code.h).
  virtual Result<int> run(Context& context) = 0;
};

std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_race_command();

}  // namespace assay::cli
