#pragma once

// The commands of `assay lab`, one file each.

#include <memory>

#include "cli/command.h"

namespace assay::cli {

std::unique_ptr<Command> make_lab_init_command();
std::unique_ptr<Command> make_lab_new_command();
std::unique_ptr<Command> make_lab_check_command();
std::unique_ptr<Command> make_lab_eval_command();
std::unique_ptr<Command> make_lab_hillclimb_command();
std::unique_ptr<Command> make_lab_serve_command();
std::unique_ptr<Command> make_lab_parity_command();
std::unique_ptr<Command> make_lab_apply_command();
std::unique_ptr<Command> make_lab_replay_command();
std::unique_ptr<Command> make_lab_history_command();
std::unique_ptr<Command> make_lab_plot_command();
std::unique_ptr<Command> make_lab_report_command();
std::unique_ptr<Command> make_lab_show_command();
std::unique_ptr<Command> make_lab_status_command();
std::unique_ptr<Command> make_lab_brief_command();
std::unique_ptr<Command> make_lab_diff_command();
std::unique_ptr<Command> make_lab_notify_command();
std::unique_ptr<Command> make_lab_refs_command();
std::unique_ptr<Command> make_lab_reablate_command();
std::unique_ptr<Command> make_lab_prune_command();
std::unique_ptr<Command> make_lab_reindex_command();

}  // namespace assay::cli
