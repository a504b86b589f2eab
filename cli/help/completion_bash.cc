#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/help/completion.h"

namespace assay::cli {
namespace {

constexpr int kMany = 99;  // Values after one flag.

std::string kinds_text(const ValueKinds& kinds) {
  return fmt::format("words='{}' files={}", join(kinds.words, " "),
                     kinds.files     ? "f"
                     : kinds.folders ? "d"
                                     : "");
}

// A case for each flag that takes a value. Flags of the program may also follow a command.
void add_flags(const CommandEntry& entry, bool is_program, std::string& out) {
  for (const FlagEntry& flag : entry.flags) {
    if (flag.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : flag.names)
      pattern += fmt::format("{}{}' {}'", pattern.empty() ? "" : " | ",
                             is_program ? std::string("*") : '\'' + entry.path + '\'', name);
    out += fmt::format("    {}) most={} {} ;;\n", pattern, flag.several ? kMany : 1,
                       kinds_text(flag.kinds));
  }
  for (const CommandEntry& command : entry.commands) add_flags(command, false, out);
}

std::vector<std::string> names_of(const std::vector<FlagEntry>& flags) {
  std::vector<std::string> names;
  for (const FlagEntry& flag : flags)
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

// What stands where no flag is: commands, or arguments.
void add_words(const CommandEntry& entry, std::string& out) {
  ValueKinds kinds;
  for (const CommandEntry& command : entry.commands) kinds.words.push_back(command.name);
  for (const FlagEntry& argument : entry.arguments) {
    kinds.words.insert(kinds.words.end(), argument.kinds.words.begin(), argument.kinds.words.end());
    kinds.files |= argument.kinds.files;
    kinds.folders |= argument.kinds.folders;
  }
  out += fmt::format("    '{}') {} flags='{}' ;;\n", entry.path, kinds_text(kinds),
                     join(names_of(entry.flags), " "));
  for (const CommandEntry& command : entry.commands) add_words(command, out);
}

void add_paths(const CommandEntry& entry, std::vector<std::string>& paths) {
  for (const CommandEntry& command : entry.commands) {
    paths.push_back('\'' + command.path + '\'');
    add_paths(command, paths);
  }
}

}  // namespace

std::string bash_completion(const CommandEntry& program) {
  std::string flags, words;
  add_flags(program, true, flags);
  add_words(program, words);
  std::vector<std::string> paths;
  add_paths(program, paths);
  return fmt::format(R"sh(# bash completion for {0}; made by `{0} completion bash`.

# What follows the flag $2 of the command $1: at most how many values, and which.
__{0}_flag() {{
  most=0 words= files=
  case "$1 $2" in
{1}  esac
}}

# What stands in the command $1 where no flag is, and its flags.
__{0}_words() {{
  words= files= flags=
  case "$1" in
{2}  esac
}}

_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} path={0} flag= taken=0 i word
  local most words files flags
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    case $word in
      =) continue ;;
      -*) flag=$word taken=0; continue ;;
    esac
    __{0}_flag "$path" "$flag"
    if ((taken < most)); then
      taken=$((taken + 1))
      continue
    fi
    case "$path $word" in
      {3}) path="$path $word" flag= taken=0 ;;
    esac
  done
  if [[ $cur == -* ]]; then
    __{0}_words "$path"
    mapfile -t COMPREPLY < <(compgen -W "$flags {4}" -- "$cur" | sort -u)
    return
  fi
  if [[ $cur == = ]]; then cur=; fi
  __{0}_flag "$path" "$flag"
  if ((taken >= most)); then __{0}_words "$path"; fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$cur"
    case $files in
      f) compgen -f -- "$cur" ;;
      d) compgen -d -- "$cur" ;;
    esac
  )
  if [[ $files ]]; then compopt -o filenames 2>/dev/null; fi
  return 0
}}

complete -F _{0} {0}
)sh",
                     program.name, flags, words, join(paths, " | "),
                     join(names_of(program.flags), " "));
}

}  // namespace assay::cli
