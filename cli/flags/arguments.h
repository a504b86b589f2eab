#pragma once

// What a command line says before it is parsed, and what was meant where it cannot be.

#include <string>
#include <vector>

#include "assay/base/result.h"

namespace CLI {
class App;
}

namespace assay::cli {

// Long names without dashes, --help aside.
std::vector<std::string> long_flags(const CLI::App& app);

// The words that are no flags and no values of the program's own flags: first the command, then
// what it is told, down to "--".
std::vector<std::string> plain_words(const std::vector<std::string>& words, const CLI::App& app);

// "lab new": the names of a command and of those that it belongs to, the program's left out.
std::string command_path(const CLI::App& command);

// The value of --config, wherever it stands; empty if there is none.
std::string config_word(const std::vector<std::string>& words);

// A sentence on the first flag that neither the program nor the command knows, with the nearest
// one; empty if there is none.
std::string unknown_flag(const std::vector<std::string>& words, const CLI::App& app,
                         const CLI::App& command);

// A sentence on the first flag whose value is an empty word, as an unset variable of a shell leaves
// it; empty if there is none. The parser would drop such a claim, or take the next flag for it.
// What goes to another program (--extra-profiler-flags, --start) may be empty.
std::string empty_value(const std::vector<std::string>& words, const CLI::App& app,
                        const CLI::App& command);

// Flags that take a list of words, though words of another kind may follow it.
bool takes_list(const std::string& flag);

// The words behind such a flag that can only be meant for it, each as a flag of its own:
// "--provider openblas blis my.cc" becomes "--provider=openblas --provider=blis my.cc". Those are
// names of providers, files that are there, and fields of a shape.
void spread_lists(std::vector<std::string>& words);

// --extra-profiler-flags takes the word behind it, though that begins with dashes: the two as one
// word, "--extra-profiler-flags=--seed=1".
void join_flags_of_others(std::vector<std::string>& words);

}  // namespace assay::cli
