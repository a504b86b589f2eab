#pragma once

// A subcommand: declares its flags, then runs. One file each; commands.cc lists them.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/device/venue.h"
#include "assay/kernel/provider.h"
#include "cli/flags/flags.h"
#include "cli/settings.h"
#include "cli/show/console.h"

namespace assay::cli {

// What every subcommand is given: the console, the settings, and the words it was called with.
struct Context {
  Console& console;
  const Settings& settings;
  std::map<std::string, ProviderSettings> provider_settings;  // From --config.
  std::vector<std::string> command_line;
  int cancel_fd = -1;         // Readable once the user asked to stop (Ctrl-C).
  Venue venue;                // The GPU that was chosen, or the CPU.
  bool device_named = false;  // By --device or ASSAY_DEVICE; else it is the CPU.
};

class Command {
 public:
  virtual ~Command() = default;
  virtual const char* name() const = 0;
  virtual const char* summary() const = 0;
  virtual const char* example() const = 0;  // A command line that works.
  // What the summary leaves out, for the manual: sentences; may be empty.
  virtual const char* description() const { return ""; }
  virtual void declare(Flags& app) = 0;
  // Commands of its own ("assay lab new"). A command that has some is never run itself.
  virtual std::span<const std::unique_ptr<Command>> commands() const { return {}; }
  // The exit code, or an error whose code maps to one (exit_code.h).
  virtual Result<int> run(Context& context) = 0;
};

std::unique_ptr<Command> make_race_command();
std::unique_ptr<Command> make_sweep_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_report_command();
std::unique_ptr<Command> make_history_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_table_command();
std::unique_ptr<Command> make_why_command();
std::unique_ptr<Command> make_import_command();
std::unique_ptr<Command> make_export_command();
std::unique_ptr<Command> make_kernels_command();
std::unique_ptr<Command> make_plugin_command();
std::unique_ptr<Command> make_providers_command();
std::unique_ptr<Command> make_serve_command();
std::unique_ptr<Command> make_device_command();
std::unique_ptr<Command> make_doctor_command();
std::unique_ptr<Command> make_new_command();
std::unique_ptr<Command> make_help_command();
std::unique_ptr<Command> make_lab_command();
std::unique_ptr<Command> make_man_command();
std::unique_ptr<Command> make_mcp_command();
std::unique_ptr<Command> make_schema_command();
std::unique_ptr<Command> make_completion_command();
std::unique_ptr<Command> make_version_command();

// In the order in which the help lists them.
std::vector<std::unique_ptr<Command>> all_commands();

std::string version_text();  // One line: version, revision, compiler, kind of build.

}  // namespace assay::cli
