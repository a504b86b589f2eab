#include "cli/flags/command_tree.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/input/suite.h"
#include "assay/kernel/provider.h"
#include "cli/flags/arguments.h"
#include "cli/flags/command_line.h"

namespace assay::cli {
namespace {

// "SUITE|FILE": what a value is called says what can be completed for it, and so does the list of
// words that a validator allows: "FORMAT:{md,csv}". Words in small letters stand for themselves.
class Kinds {
 public:
  explicit Kinds(const CommandLine& line) {
    for (const auto& provider : built_in_providers()) providers_.push_back(provider->info().name);
    for (const auto& suite : input::embedded_suites()) suites_.emplace_back(suite.name);
    for (const auto& command : line.commands()) commands_.emplace_back(command->name());
  }

  ValueKinds of(const std::string& type) const {
    ValueKinds kinds;
    const std::string value = type.substr(0, type.find(':'));
    if (const auto open = type.find(":{"); open != std::string::npos) {
      const auto end = std::min(type.find('}', open), type.size());
      for (const std::string_view word :
           split(std::string_view(type).substr(open + 2, end - open - 2), ','))
        kinds.words.emplace_back(word);
      return kinds;
    }
    const auto add = [&](const std::vector<std::string>& words) {
      kinds.words.insert(kinds.words.end(), words.begin(), words.end());
    };
    for (const std::string_view part : split(value, '|')) {
      if (part == "FILE" || part == "RUN" || part == "RECORD") kinds.files = true;
      if (part == "DIR") kinds.folders = true;
      if (part == "PROVIDER") add(providers_);
      if (part == "SUITE") add(suites_);
      if (part == "COMMAND") add(commands_);
      if (!part.empty() &&
          part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos)
        kinds.words.emplace_back(part);
    }
    return kinds;
  }

 private:
  std::vector<std::string> providers_, suites_, commands_;
};

// A validator of ranges says "INT in [1 - 64]".
std::string range_in(const std::string& type) {
  constexpr std::string_view kBegin = " in [", kTo = " - ";
  const size_t begin = type.find(kBegin), end = type.rfind(']');
  if (begin == type.npos || end == type.npos) return {};
  const size_t first = begin + kBegin.size(), to = type.find(kTo, first);
  if (to == type.npos || to > end) return {};
  return fmt::format("{} to {}", type.substr(first, to - first),
                     type.substr(to + kTo.size(), end - to - kTo.size()));
}

FlagEntry describe(const CLI::Option& option, const Kinds& kinds) {
  FlagEntry entry;
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  if (option.nonpositional()) entry.group = option.get_group();
  entry.help = option.get_description();
  entry.otherwise = option.get_default_str();
  entry.required = option.get_required();
  if (option.get_items_expected_max() > 0) {
    // What validators add follows a colon.
    const std::string type = option.get_type_name();
    entry.value = type.substr(0, type.find(':'));
    entry.kinds = kinds.of(type);
    entry.range = range_in(type);
    // A list takes several words at once unless it was told not to.
    entry.several =
        option.get_items_expected_max() > 1 &&
        (option.get_allow_extra_args() || entry.names.empty() || takes_list(entry.names.front()));
  }
  return entry;
}

CommandEntry describe(const CLI::App& app, const std::string& parent, const Kinds& kinds) {
  CommandEntry entry;
  entry.name = app.get_name();
  entry.path = parent.empty() ? entry.name : parent + ' ' + entry.name;
  entry.summary = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // Hidden.
    (option->nonpositional() ? entry.flags : entry.arguments).push_back(describe(*option, kinds));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty())
      entry.commands.push_back(describe(*command, entry.path, kinds));
  return entry;
}

// What the parser's definitions do not hold.
void add_texts(std::span<const std::unique_ptr<Command>> commands,
               std::vector<CommandEntry>& entries) {
  for (const auto& command : commands) {
    const auto entry = std::ranges::find(entries, command->name(), &CommandEntry::name);
    if (entry == entries.end()) continue;
    entry->example = command->example();
    entry->description = command->description();
    add_texts(command->commands(), entry->commands);
  }
}

}  // namespace

std::string FlagEntry::full_help() const {
  const bool says_default = help.find("(default") != std::string::npos;
  return help + (otherwise.empty() || says_default ? "" : " (default: " + otherwise + ")") +
         (required ? " (required)" : "");
}

std::string FlagEntry::value_text() const {
  const bool has_dots = value.ends_with("...");
  return value + (several && !has_dots ? "..." : "");
}

CommandEntry describe(const CommandLine& line) {
  CommandEntry program = describe(line.app(), "", Kinds(line));
  add_texts(line.commands(), program.commands);
  return program;
}

Result<const CommandEntry*> find_command(const CommandEntry& program,
                                         std::span<const std::string> path) {
  const CommandEntry* entry = &program;
  std::string above;  // "lab: ", of the commands that were found.
  for (const std::string& name : path) {
    const auto found = std::ranges::find(entry->commands, name, &CommandEntry::name);
    if (found == entry->commands.end() && entry->commands.empty())
      return fail(ErrorCode::invalid_input, "{}it has no commands of its own, such as '{}'", above,
                  sanitize(name, 80));
    if (found == entry->commands.end()) {
      std::vector<std::string> known;
      for (const CommandEntry& command : entry->commands) known.push_back(command.name);
      return fail(ErrorCode::invalid_input, "{}there is no command '{}'{}", above,
                  sanitize(name, 80), did_you_mean(name, known, "there are: " + join(known, ", ")));
    }
    entry = &*found;
    above = name + ": ";
  }
  return entry;
}

}  // namespace assay::cli
