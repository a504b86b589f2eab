#pragma once

// The command line's definitions as plain data, for whoever writes them down in another language:
// completion of shells, man pages.

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

class CommandLine;

// What can be completed for a value.
struct ValueKinds {
  std::vector<std::string> words;
  bool files = false, folders = false;

  bool operator==(const ValueKinds&) const = default;
};

// A flag, or an argument without one.
struct FlagEntry {
  std::vector<std::string> names;  // "--quiet", "-q"; empty for an argument.
  std::string value;               // What its value is called: "SHAPE"; empty: it takes none.
  std::string group;               // The heading that it stands under; empty for an argument.
  std::string help;
  std::string otherwise;  // The default; may be empty.
  std::string range;      // "1 to 64"; empty: its command says more of what it takes.
  bool several = false;   // Several values may follow.
  bool required = false;
  ValueKinds kinds;

  std::string full_help() const;   // With its default, and whether it must be given.
  std::string value_text() const;  // "FILE..."; empty if it takes none.
};

struct CommandEntry {
  std::string path;         // "assay race".
  std::string name;         // "race".
  std::string summary;      // One line.
  std::string description;  // Sentences; may be empty.
  std::string example;      // May be empty.
  std::vector<FlagEntry> flags, arguments;
  std::vector<CommandEntry> commands;
};

// The program; its commands in the order of the help.
CommandEntry describe(const CommandLine& line);

// One of its commands, by the words of its path: {"lab", "eval"}. An error names the nearest.
Result<const CommandEntry*> find_command(const CommandEntry& program,
                                         std::span<const std::string> path);

}  // namespace assay::cli
