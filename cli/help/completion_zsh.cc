#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/help/completion.h"

namespace assay::cli {
namespace {

// Inside single quotes, where _arguments gives a meaning to brackets and colons.
std::string zsh_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '[' || c == ']' || c == ':') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string function_of(const CommandEntry& entry) {
  std::string name = '_' + entry.path;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

class ZshWriter {
 public:
  std::string write(const CommandEntry& program) {
    add(program);
    std::string out = fmt::format(
        "#compdef {0}\n# zsh completion for {0}; made by `{0} completion zsh`.\n\n", program.name);
    for (size_t i = 0; i < kinds_.size(); ++i)
      out += fmt::format("_{}_values_{}() {{\n  _alternative 'words:word:({})' 'files:{}'\n}}\n\n",
                         program.name, i + 1, join(kinds_[i].words, " "),
                         kinds_[i].files ? "file:_files" : "folder:_files -/");
    return out + functions_ +
           fmt::format(
               "if [[ $funcstack[1] == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} "
               "{0}\nfi\n",
               program.name);
  }

 private:
  // How zsh completes the value; words and files together need a function.
  std::string action(const ValueKinds& kinds, const std::string& program) {
    const bool paths = kinds.files || kinds.folders;
    if (kinds.words.empty()) return kinds.files ? "_files" : kinds.folders ? "_files -/" : " ";
    if (!paths) return fmt::format("({})", join(kinds.words, " "));
    auto found = std::ranges::find(kinds_, kinds);
    if (found == kinds_.end()) found = kinds_.insert(kinds_.end(), kinds);
    return fmt::format("_{}_values_{}", program, found - kinds_.begin() + 1);
  }

  std::string specification(const FlagEntry& flag, const std::string& program) {
    std::string value;
    if (!flag.value.empty())
      value = fmt::format(":{}:{}", zsh_quoted(flag.value), action(flag.kinds, program));
    if (flag.names.empty())
      return fmt::format(" \\\n    '{}{}'", flag.several ? "*" : flag.required ? "" : ":", value);
    std::string out;
    for (const std::string& name : flag.names) {
      const bool with_equals = !value.empty() && name.starts_with("--");
      out += fmt::format(" \\\n    '*{}{}[{}]{}'", name, with_equals ? "=" : "",
                         zsh_quoted(flag.help), value);
    }
    return out;
  }

  void add(const CommandEntry& entry) {
    const std::string program = entry.path.substr(0, entry.path.find(' '));
    std::string body = fmt::format("{}() {{\n", function_of(entry));
    std::string flags;
    for (const FlagEntry& flag : entry.flags) flags += specification(flag, program);
    if (entry.commands.empty()) {
      for (const FlagEntry& argument : entry.arguments) flags += specification(argument, program);
      functions_ += fmt::format("{}  _arguments -s{}\n}}\n\n", body, flags);
      return;
    }
    body += "  local context state state_descr line\n  typeset -A opt_args\n  local -a commands\n";
    body += "  commands=(\n";
    std::string cases;
    for (const CommandEntry& command : entry.commands) {
      body += fmt::format("    '{}:{}'\n", zsh_quoted(command.name), zsh_quoted(command.summary));
      cases += fmt::format("        {}) {} ;;\n", command.name, function_of(command));
      add(command);
    }
    functions_ += fmt::format(
        "{}  )\n  _arguments -C -s{} \\\n    '1: :->command' \\\n    '*:: :->rest'\n"
        "  case $state in\n    command) _describe -t commands command commands ;;\n    rest)\n"
        "      case $words[1] in\n{}      esac ;;\n  esac\n}}\n\n",
        body, flags, cases);
  }

  std::vector<ValueKinds> kinds_;  // Of the functions that complete words and files.
  std::string functions_;
};

}  // namespace

std::string zsh_completion(const CommandEntry& program) { return ZshWriter().write(program); }

}  // namespace assay::cli
