#pragma once

// Manual pages (man(7) macros) from the command line's definitions.

#include <string>

#include "cli/flags/command_tree.h"

namespace assay::cli {

// assay(1): the commands, the flags of all of them, exit codes, environment.
std::string program_page(const CommandEntry& program);
// assay-race(1): one command; commands below it are sections of its page.
std::string command_page(const CommandEntry& program, const CommandEntry& command);

}  // namespace assay::cli
