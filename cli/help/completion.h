#pragma once

// Completion scripts of shells, written from the command line's definitions. Each completes
// commands, flags, and values where these are files, folders or known words.

#include <string>

#include "cli/flags/command_tree.h"

namespace assay::cli {

std::string bash_completion(const CommandEntry& program);
std::string zsh_completion(const CommandEntry& program);
std::string fish_completion(const CommandEntry& program);

}  // namespace assay::cli
