#pragma once

// What --help and `assay help` print: as wide as the terminal, flags under headings.

#include <string>

#include "cli/flags/command_tree.h"

namespace assay::cli {

// The program's: its commands, the flags of all of them, exit codes.
std::string program_help(const CommandEntry& program, int width);

std::string command_help(const CommandEntry& program, const CommandEntry& command, int width);

}  // namespace assay::cli
