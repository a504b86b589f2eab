#include "cli/flags/arguments.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/text.h"
#include "cli/files/kernel_files.h"
#include "cli/flags/race_options.h"

namespace assay::cli {
namespace {

std::string flag_name(const std::string& word) { return word.substr(0, word.find('=')); }

// Whether a flag such as --color is followed by its value.
bool takes_value(const CLI::App& app, const std::string& flag) {
  for (const CLI::Option* option : app.get_options())
    if (option->check_name(flag)) return option->get_items_expected_max() > 0;
  return false;
}

bool is_names_of_providers(const std::string& word) {
  const auto parts = split(word, ',');
  return !names_file(word) && std::ranges::all_of(parts, [](std::string_view part) {
    return is_provider(std::string(trim(part)));
  });
}

bool is_shape(const std::string& word) {
  return word.find('=') != std::string::npos && !names_file(word);
}

// Of another program's command line, where an empty word may be meant.
bool is_words_of_others(std::string_view flag) {
  return flag == "--extra-profiler-flags" || flag == "--start";
}

using IsMeant = bool (*)(const std::string&);

IsMeant is_meant_for(std::string_view flag) {
  if (flag == "--provider") return &is_names_of_providers;
  if (flag == "--kernels") return &names_file;
  if (flag == "--shape") return &is_shape;
  return nullptr;
}

}  // namespace

std::vector<std::string> long_flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (name != "help") names.push_back(name);
  return names;
}

std::vector<std::string> plain_words(const std::vector<std::string>& words, const CLI::App& app) {
  std::vector<std::string> plain;
  for (size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const std::string& word = words[i];
    if (word.empty() || word[0] != '-')
      plain.push_back(word);
    else if (word.find('=') == std::string::npos && takes_value(app, word))
      ++i;
  }
  return plain;
}

std::string command_path(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return command.get_name();
  return command_path(*parent) + ' ' + command.get_name();
}

std::string config_word(const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with("--config=")) return words[i].substr(9);
  }
  return {};
}

std::string unknown_flag(const std::vector<std::string>& words, const CLI::App& app,
                         const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::App* one : {&command, &app})
    for (const std::string& name : long_flags(*one)) known.push_back("--" + name);
  known.emplace_back("--help");
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--") break;
    if (!words[i].starts_with("--")) continue;
    const std::string name = flag_name(words[i]);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return fmt::format("{} has no flag {}{}", command_path(command), sanitize(name, 80),
                       did_you_mean(name, known));
  }
  return {};
}

std::string empty_value(const std::vector<std::string>& words, const CLI::App& app,
                        const CLI::App& command) {
  for (size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = flag_name(words[i]);
    if (name.size() < 2 || name[0] != '-' || is_words_of_others(name)) continue;
    if (!takes_value(command, name) && !takes_value(app, name)) continue;
    const bool is_joined = name.size() < words[i].size();
    const bool is_empty = is_joined ? words[i].size() == name.size() + 1
                                    : i + 1 < words.size() && words[i + 1].empty();
    if (is_empty)
      return fmt::format("{}: the value of {} is empty; write one, or leave the flag out",
                         command_path(command), name);
    if (!is_joined) ++i;
  }
  return {};
}

bool takes_list(const std::string& flag) { return is_meant_for(flag) != nullptr; }

void spread_lists(std::vector<std::string>& words) {
  for (size_t i = 1; i + 1 < words.size() && words[i] != "--"; ++i) {
    const IsMeant is_meant = is_meant_for(words[i]);
    if (is_meant == nullptr || words[i + 1].starts_with("-")) continue;
    const std::string flag = words[i];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    words[i] = flag + '=' + words[i];
    for (; i + 1 < words.size() && !words[i + 1].starts_with("-") && is_meant(words[i + 1]); ++i)
      words[i + 1] = flag + '=' + words[i + 1];
  }
}

void join_flags_of_others(std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] != "--extra-profiler-flags" || !words[i + 1].starts_with("--")) continue;
    words[i] += "=" + words[i + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

}  // namespace assay::cli
