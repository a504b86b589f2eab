#include "cli/help/reference_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/exit_code.h"
#include "cli/settings.h"

namespace assay::cli {
namespace {

// What Markdown would read as marks of its own. Text between backticks is shown as it stands, but
// a bar would end a cell of a table there, too.
std::string markdown(std::string_view text) {
  std::string out;
  bool in_code = false;
  for (const char c : text) {
    if (c == '`') in_code = !in_code;
    if (c == '|' || (!in_code && std::string_view("\\*_<>[]").find(c) != std::string_view::npos))
      out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) {
  std::string out = "`";
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out + '`';
}

std::string sentence(std::string_view text) {
  std::string out = markdown(text);
  if (!out.empty() && std::string_view(".!?").find(out.back()) == std::string_view::npos)
    out += '.';
  return out;
}

// "Where it goes (default: runs/<n>)" as {"Where it goes", "runs/<n>"}.
struct MeaningAndDefault {
  std::string meaning, otherwise;
};

MeaningAndDefault take_apart(const FlagEntry& flag) {
  constexpr std::string_view kOpen = "(default: ";
  MeaningAndDefault parts{flag.help, flag.otherwise};
  const size_t at = flag.help.find(kOpen);
  if (at == std::string::npos) return parts;
  int open = 1;
  size_t end = at + kOpen.size();
  while (end < flag.help.size() && (open += (flag.help[end] == '(') - (flag.help[end] == ')')) > 0)
    ++end;
  if (open > 0) return parts;
  parts.otherwise = flag.help.substr(at + kOpen.size(), end - at - kOpen.size());
  parts.meaning =
      std::string(trim(std::string_view(flag.help).substr(0, at))) + flag.help.substr(end + 1);
  return parts;
}

// The words that it takes, if its value's name does not list them already.
std::string words_of(const FlagEntry& flag) {
  const bool names_what_there_is = flag.value == "PROVIDER" || flag.value == "SUITE" ||
                                   flag.value == "COMMAND" ||
                                   flag.value.find('|') != std::string::npos;
  if (names_what_there_is || flag.kinds.words.size() < 2) return {};
  std::vector<std::string> words;
  for (const std::string& word : flag.kinds.words) words.push_back(code(word));
  return " One of " + join(words, ", ") + '.';
}

bool is_of_help(const FlagEntry& flag) {
  return std::ranges::find(flag.names, "--help") != flag.names.end();
}

std::string row(const FlagEntry& flag) {
  const auto [meaning, otherwise] = take_apart(flag);
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back(code(name));
  std::string head = join(names, ", ");
  if (!flag.value.empty()) head += (head.empty() ? "" : " ") + code(flag.value_text());
  const std::string range = flag.range.empty() ? "" : fmt::format(" From {}.", flag.range);
  return fmt::format("| {} | {} | {}{}{} |\n", head,
                     flag.required ? "*required*" : markdown(otherwise), sentence(meaning),
                     words_of(flag), range);
}

std::string table(std::string_view title, const std::vector<FlagEntry>& flags) {
  std::string rows;
  for (const FlagEntry& flag : flags)
    if (!is_of_help(flag)) rows += row(flag);
  return rows.empty() ? rows
                      : fmt::format("\n| {} | default | meaning |\n|---|---|---|\n", title) + rows;
}

// In the order in which the command declares its groups' first flags.
std::string flag_tables(const CommandEntry& command) {
  std::vector<std::pair<std::string, std::vector<FlagEntry>>> groups;
  for (const FlagEntry& flag : command.flags) {
    if (is_of_help(flag)) continue;
    auto group = std::ranges::find(groups, flag.group,
                                   &std::pair<std::string, std::vector<FlagEntry>>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {flag.group, {}});
    group->second.push_back(flag);
  }
  std::string out;
  for (const auto& [group, flags] : groups)
    out += table(groups.size() == 1 ? "option" : "option: " + group, flags);
  return out;
}

std::string synopsis(const CommandEntry& command) {
  std::string out = "\n```\n" + command.path;
  if (!command.commands.empty()) out += " COMMAND";
  for (const FlagEntry& argument : command.arguments)
    out += argument.required ? ' ' + argument.value_text() : " [" + argument.value_text() + ']';
  for (const FlagEntry& flag : command.flags)
    if (flag.required) out += fmt::format(" {} {}", flag.names.front(), flag.value_text());
  return out + " [FLAG...]\n```\n";
}

std::string anchor(std::string_view path) {
  std::string out;
  for (const char c : path) out += c == ' ' ? '-' : c;
  return out;
}

void add_section(const CommandEntry& command, int level, std::string& out) {
  out += fmt::format("\n{} {}\n\n{}\n", std::string(level, '#'), command.path,
                     sentence(command.summary));
  out += synopsis(command);
  if (!command.description.empty()) out += '\n' + sentence(command.description) + '\n';
  out += table("argument", command.arguments) + flag_tables(command);
  if (!command.example.empty()) out += fmt::format("\nExample:\n\n```\n{}\n```\n", command.example);
  for (const CommandEntry& below : command.commands) add_section(below, level + 1, out);
}

void add_list(const CommandEntry& command, std::string& out) {
  out += fmt::format("| [{}](#{}) | {} |\n", code(command.path), anchor(command.path),
                     sentence(command.summary));
  for (const CommandEntry& below : command.commands) add_list(below, out);
}

void add_common(const CommandEntry& program, std::string& out) {
  out += "\n## Options of every command\n\nThey may stand before or behind the command.\n";
  out += table("option", program.flags);
  out +=
      "\n## Exit codes\n\nEvery command ends with one of these.\n\n| code | meaning |\n|---|---|\n";
  for (const ExitMeaning& exit : exit_meanings())
    out += fmt::format("| {} | {} |\n", exit.code, sentence(exit.meaning));
  out +=
      "\n## Environment variables\n\nFlags win over all of these. The environment wins over a "
      "file `.env` in the current folder.\n\n| variable | meaning |\n|---|---|\n";
  for (const EnvironmentVariable& variable : environment_variables())
    out += fmt::format("| {} | {} |\n", code(variable.name), sentence(variable.meaning));
}

}  // namespace

std::string command_section(const CommandEntry& command) {
  std::string out;
  add_section(command, 2, out);
  return out.substr(1);
}

std::string commands_page(const CommandEntry& program) {
  std::string out =
      "# Command reference\n\n*Written by `scripts/make-reference` from the program's own "
      "definitions. Do not edit this page: edit the command, and run the script.*\n\n";
  out +=
      "Each command has a section: what it does, its arguments, and its options with their "
      "defaults. [Commands](../commands.md) has the common grammar of shapes, files and "
      "providers. Names in capital letters stand for values. `...` means that several may "
      "follow.\n\nSeconds, bytes and shares may have a unit: `90s`, `2m`, `512MiB`, `2GiB`, "
      "`0.5%`. A bare number is in seconds, bytes, or a fraction.\n\nAll commands share "
      "[options](#options-of-every-command), [exit codes](#exit-codes) and [environment "
      "variables](#environment-variables).\n\n| command | does |\n|---|---|\n";
  for (const CommandEntry& command : program.commands) add_list(command, out);
  for (const CommandEntry& command : program.commands) add_section(command, 2, out);
  add_common(program, out);
  return out;
}

}  // namespace assay::cli
