#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/help/completion.h"

namespace assay::cli {
namespace {

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out + '\'';
}

// Words, files and folders as fish completes them; -x: nothing but these.
std::string values_text(const ValueKinds& kinds) {
  std::vector<std::string> words = kinds.words;
  if (kinds.folders && !kinds.files) words.emplace_back("(__fish_complete_directories)");
  std::string text = kinds.files ? " -r -F" : " -x";
  if (!words.empty()) text += fmt::format(" -a {}", fish_quoted(join(words, " ")));
  return text;
}

class FishWriter {
 public:
  explicit FishWriter(const CommandEntry& program) : program_(program.name) {
    out_ = fmt::format(
        "# fish completion for {0}; made by `{0} completion fish`.\ncomplete -c {0} -f\n",
        program_);
    add(program, "");
  }
  std::string take() { return std::move(out_); }

 private:
  // `condition`: when the entry is the command that is typed; empty: always.
  void add(const CommandEntry& entry, const std::string& condition) {
    const std::string start = fmt::format(
        "complete -c {}{}", program_, condition.empty() ? "" : fmt::format(" -n '{}'", condition));
    for (const FlagEntry& flag : entry.flags) {
      out_ += start;
      for (const std::string& name : flag.names)
        out_ += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!flag.value.empty()) out_ += values_text(flag.kinds);
      out_ += fmt::format(" -d {}\n", fish_quoted(flag.help));
    }
    for (const FlagEntry& argument : entry.arguments) {
      const bool folders_alone = argument.kinds.folders && !argument.kinds.files;
      if (argument.kinds.files) out_ += start + " -F\n";
      if (folders_alone) out_ += start + " -a '(__fish_complete_directories)'\n";
      if (!argument.kinds.words.empty())
        out_ += fmt::format("{} -a {}\n", start, fish_quoted(join(argument.kinds.words, " ")));
    }
    std::vector<std::string> names;
    for (const CommandEntry& command : entry.commands) names.push_back(command.name);
    const std::string none_yet =
        names.empty()
            ? ""
            : fmt::format("{}not __fish_seen_subcommand_from {}",
                          condition.empty() ? "" : condition + "; and ", join(names, " "));
    for (const CommandEntry& command : entry.commands) {
      out_ += fmt::format("complete -c {} -n '{}' -a {} -d {}\n", program_, none_yet,
                          fish_quoted(command.name), fish_quoted(command.summary));
      add(command, fmt::format("{}__fish_seen_subcommand_from {}",
                               condition.empty() ? "" : condition + "; and ", command.name));
    }
  }

  std::string program_, out_;
};

}  // namespace

std::string fish_completion(const CommandEntry& program) { return FishWriter(program).take(); }

}  // namespace assay::cli
