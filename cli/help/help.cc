#include "cli/help/help.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "cli/exit_code.h"
#include "cli/flags/flags.h"

namespace assay::cli {
namespace {

// Where sentences begin: behind most flags with their values, behind all commands.
constexpr int kFlagColumn = 26, kWordColumn = 13;

// A word that is wider than there is room, such as a path, may be broken behind a slash or a bar.
std::string with_breaks(std::string_view sentence, size_t room) {
  std::string out;
  for (const std::string_view word : split(sentence, ' ')) {
    if (!out.empty()) out += ' ';
    const size_t at = word.size() > room ? word.find_last_of("/|,", room - 1) : word.npos;
    out += at == word.npos ? std::string(word)
                           : fmt::format("{} {}", word.substr(0, at + 1), word.substr(at + 1));
  }
  return out;
}

// A name and its sentence side by side, or one below the other if the name is long.
std::string entry_text(const std::string& name, const std::string& sentence, int width,
                       int column) {
  const std::string head = "  " + name;
  const int room = std::max(width - column, 20);
  std::string out;
  const bool below = report::display_width(head) + 2 > column;
  if (below) out = head + '\n';
  std::string before = below ? std::string(column, ' ') : report::pad(head, column);
  const std::string wrapped =
      report::wrap(with_breaks(sentence, static_cast<size_t>(room)), room, 0);
  for (const std::string_view line : split(trim(wrapped), '\n')) {
    out += before.append(line) + '\n';
    before.assign(column, ' ');
  }
  return out;
}

std::string head_of(const FlagEntry& flag) {
  if (flag.names.empty()) return flag.value_text();
  return join(flag.names, ", ") + (flag.value.empty() ? "" : ' ' + flag.value_text());
}

std::string list_text(const std::string& title, const std::vector<FlagEntry>& flags, int width) {
  if (flags.empty()) return {};
  std::string out = '\n' + title + '\n';
  for (const FlagEntry& flag : flags)
    out += entry_text(head_of(flag), flag.full_help(), width, kFlagColumn);
  return out;
}

// The parser's own --help says what its reader knows.
bool is_help(const FlagEntry& flag) {
  return std::ranges::find(flag.names, "--help") != flag.names.end();
}

std::string flags_text(const CommandEntry& command, int width) {
  std::vector<std::pair<FlagGroup, std::vector<FlagEntry>>> groups;
  for (const FlagGroup group : {FlagGroup::problem, FlagGroup::kernels, FlagGroup::backend,
                                FlagGroup::server, FlagGroup::limits, FlagGroup::mock,
                                FlagGroup::measuring, FlagGroup::output, FlagGroup::more}) {
    std::vector<FlagEntry> flags;
    std::ranges::copy_if(command.flags, std::back_inserter(flags), [&](const FlagEntry& flag) {
      return flag.group == to_string(group) && !is_help(flag);
    });
    if (!flags.empty()) groups.emplace_back(group, std::move(flags));
  }
  // One heading alone would say nothing.
  if (groups.size() == 1) return list_text("Options", groups.front().second, width);
  std::string out;
  for (const auto& [group, flags] : groups) out += list_text(to_string(group), flags, width);
  return out;
}

std::string usage_text(const CommandEntry& command, int width) {
  std::string usage = "Usage: " + command.path;
  for (const FlagEntry& argument : command.arguments)
    usage += argument.required ? ' ' + argument.value_text() : " [" + argument.value_text() + ']';
  if (!command.commands.empty()) usage += " COMMAND";
  return report::wrap(usage + " [FLAG...]", width, 7);
}

std::string exits_text(int width) {
  std::string out = "\nExit codes\n";
  for (const ExitMeaning& exit : exit_meanings())
    out += entry_text(fmt::to_string(exit.code), std::string(exit.meaning), width, kWordColumn);
  return out;
}

}  // namespace

std::string program_help(const CommandEntry& program, int width) {
  std::string out = report::wrap(program.summary, width, 0) + '\n' + usage_text(program, width);
  out += "\nCommands\n";
  for (const CommandEntry& command : program.commands)
    out += entry_text(command.name, command.summary, width, kWordColumn);
  std::vector<FlagEntry> flags;
  std::ranges::copy_if(program.flags, std::back_inserter(flags),
                       [](const FlagEntry& flag) { return !is_help(flag); });
  out += list_text("Options of every command", flags, width);
  out += exits_text(width);
  return out + '\n' +
         report::wrap(
             "`assay help COMMAND` says more of a command, and `assay man` has the manual.", width,
             0);
}

std::string command_help(const CommandEntry& program, const CommandEntry& command, int width) {
  std::string out = report::wrap(command.summary, width, 0) + '\n' + usage_text(command, width);
  if (!command.description.empty()) out += '\n' + report::wrap(command.description, width, 0);
  out += list_text("Arguments", command.arguments, width) + flags_text(command, width);
  for (const CommandEntry& below : command.commands)
    out += entry_text(below.name, below.summary, width, kWordColumn);
  if (!command.example.empty()) out += "\nExample\n  " + command.example + '\n';
  std::vector<std::string> globals;
  for (const FlagEntry& flag : program.flags)
    if (!is_help(flag)) globals.push_back(flag.names.front());
  return out + '\n' +
         report::wrap("Options of every command (`assay help`): " + join(globals, ", "), width, 2);
}

}  // namespace assay::cli
