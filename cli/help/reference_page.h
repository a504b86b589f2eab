#pragma once

// The handbook's page of all commands (docs/reference/commands.md), from the command line's
// definitions.

#include <string>

#include "cli/flags/command_tree.h"

namespace assay::cli {

// Markdown: one section for each command, with those below it, then what all of them share.
std::string commands_page(const CommandEntry& program);
// One of those sections.
std::string command_section(const CommandEntry& command);

}  // namespace assay::cli
