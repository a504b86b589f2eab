#include "cli/command.h"
#include "cli/commands/replay_command.h"
#include "cli/commands/shapes_command.h"
#include "cli/load/load_commands.h"

namespace assay::cli {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_new_command());
  commands.push_back(make_race_command());
  commands.push_back(make_sweep_command());
  commands.push_back(make_compare_command());
  commands.push_back(make_report_command());
  commands.push_back(make_history_command());
  commands.push_back(make_replay_command());
  commands.push_back(make_run_command());
  commands.push_back(make_table_command());
  commands.push_back(make_why_command());
  commands.push_back(make_import_command());
  commands.push_back(make_export_command());
  commands.push_back(make_serve_command());
  commands.push_back(make_load_command());
  commands.push_back(make_kernels_command());
  commands.push_back(make_shapes_command());
  commands.push_back(make_plugin_command());
  commands.push_back(make_providers_command());
  commands.push_back(make_device_command());
  commands.push_back(make_doctor_command());
  commands.push_back(make_help_command());
  commands.push_back(make_lab_command());
  commands.push_back(make_mcp_command());
  commands.push_back(make_schema_command());
  commands.push_back(make_man_command());
  commands.push_back(make_completion_command());
  commands.push_back(make_version_command());
  return commands;
}

}  // namespace assay::cli
