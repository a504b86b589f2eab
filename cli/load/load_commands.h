#pragma once

// The commands of `assay load`, one file each.

#include <memory>

#include "cli/command.h"

namespace assay::cli {

std::unique_ptr<Command> make_load_command();
std::unique_ptr<Command> make_load_show_command();
std::unique_ptr<Command> make_load_race_command();
std::unique_ptr<Command> make_load_search_command();
std::unique_ptr<Command> make_load_sweep_command();

}  // namespace assay::cli
