#include "cli/config.h"

#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "assay/base/choices.h"
#include "assay/base/text.h"
#include "assay/input/yaml.h"
#include "cli/flags/arguments.h"

namespace assay::cli {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Result<std::string> text_of(const input::YamlField& field) {
  ASSAY_TRY(const Value value, field.as_value());
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* truth = std::get_if<bool>(&value)) return std::string(*truth ? "true" : "false");
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::to_string(*number);
  return fmt::format("{}", std::get<double>(value));
}

Result<std::vector<std::string>> texts_of(const input::YamlField& field) {
  std::vector<std::string> texts;
  if (field.kind() != input::YamlField::Kind::list) {
    ASSAY_TRY(std::string text, text_of(field));
    texts.push_back(std::move(text));
    return texts;
  }
  ASSAY_TRY(const auto items, field.items());
  for (const auto& item : items) {
    ASSAY_TRY(std::string text, text_of(item));
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return fail(field.error("is an empty list; leave the key out"));
  return texts;
}

class ConfigReader {
 public:
  explicit ConfigReader(const ConfigNames& names) : names_(names) {}

  Result<Config> read(const input::YamlField& root) {
    ASSAY_TRY(const auto members, root.members());
    for (const auto& [key, field] : members) ASSAY_TRY(read_member(key, field));
    return std::move(config_);
  }

 private:
  Status read_member(const std::string& key, const input::YamlField& field) {
    std::set<std::string> known(names_.everywhere.begin(), names_.everywhere.end());
    for (const auto& [command, flags] : names_.commands) known.insert(flags.begin(), flags.end());
    // A word may be two things: `plugin: my.so` is the flag, `plugin: {threads: 1}` the command.
    const bool is_map = field.kind() == input::YamlField::Kind::map;
    if (known.contains(key) && !is_map) return add("", key, field);
    if (names_.commands.contains(key)) return read_command(key, field);
    if (contains(names_.providers, key)) return read_provider(key, field);
    if (known.contains(key)) return add("", key, field);
    known.insert(names_.providers.begin(), names_.providers.end());
    for (const auto& [command, flags] : names_.commands) known.insert(command);
    const std::vector<std::string> all(known.begin(), known.end());
    return fail(field.error(fmt::format("no flag, command or provider is called '{}'{}",
                                        sanitize(key, 80), did_you_mean(key, all))));
  }

  Status read_command(const std::string& command, const input::YamlField& field) {
    ASSAY_TRY(const auto members, field.members());
    const std::vector<std::string>& own = names_.commands.at(command);
    for (const auto& [flag, value] : members) {
      if (!contains(own, flag) && !contains(names_.everywhere, flag))
        return fail(value.error(fmt::format("{} has no flag --{}{}", command, sanitize(flag, 80),
                                            did_you_mean(flag, own))));
      ASSAY_TRY(add(command, flag, value));
    }
    return {};
  }

  Status read_provider(const std::string& provider, const input::YamlField& field) {
    ASSAY_TRY(const auto members, field.members());
    std::vector<std::string> known = {kLibrarySetting};
    if (const auto own = names_.settings.find(provider); own != names_.settings.end())
      known.insert(known.end(), own->second.begin(), own->second.end());
    for (const auto& [key, value] : members) {
      if (!contains(known, key))
        return fail(
            value.error(fmt::format("{} has no setting '{}'{}", provider, sanitize(key, 80),
                                    did_you_mean(key, known, "there is: " + join(known, ", ")))));
      ASSAY_TRY(const std::string text, value.as_string());
      config_.providers[provider][key] = text;
      if (!names_.check) continue;
      if (const Status taken = names_.check(provider, {{key, text}}); !taken)
        return fail(value.error(taken.error().message));
    }
    return {};
  }

  Status add(const std::string& command, const std::string& flag, const input::YamlField& field) {
    ConfigDefault entry{
        command,
        flag,
        {},
        fmt::format("{}:{}:{}: {}", field.origin(), field.line(), field.column(), field.path())};
    ASSAY_TRY(entry.values, texts_of(field));
    if (flag != "extra-profiler-flags" && flag != "start" && contains(entry.values, ""))
      return fail(field.error("is empty; write a value, or leave the key out"));
    config_.defaults.push_back(std::move(entry));
    return {};
  }

  const ConfigNames& names_;
  Config config_;
};

Status apply(const Config& config, const std::string& command, CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->count() > 0 || option->get_lnames().empty()) continue;
    const ConfigDefault* found = config.find(command, option->get_lnames().front());
    if (found == nullptr) continue;
    try {
      option->add_result(found->values);
      option->run_callback();
    } catch (const CLI::Error& error) {
      return fail(ErrorCode::invalid_input, "{}: {}", found->origin, sanitize(error.what()));
    }
  }
  return {};
}

}  // namespace

const ConfigDefault* Config::find(const std::string& command, const std::string& flag) const {
  const ConfigDefault* general = nullptr;
  for (const ConfigDefault& entry : defaults) {
    if (entry.flag != flag) continue;
    if (entry.command == command) return &entry;
    if (entry.command.empty()) general = &entry;
  }
  return general;
}

std::string Config::with_origin(const std::string& message, const std::string& command,
                                const std::vector<std::string>& words) const {
  if (!message.starts_with("--")) return message;
  const std::string flag = message.substr(0, message.find_first_of(": ="));
  for (const std::string& word : words)
    if (word == flag || word.starts_with(flag + '=')) return message;
  const ConfigDefault* found = find(command, flag.substr(2));
  return found == nullptr ? message : fmt::format("{}: {}", found->origin, message);
}

Result<Config> parse_config(std::string_view text, const std::string& origin,
                            const ConfigNames& names) {
  ASSAY_TRY(const auto root, input::parse_yaml(text, origin));
  return ConfigReader(names).read(root);
}

Result<Config> read_config(const std::string& path, const ConfigNames& names) {
  ASSAY_TRY(const auto root, input::read_yaml(path));
  return ConfigReader(names).read(root);
}

void relax_required(const Config& config, CLI::App& command) {
  for (CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty() &&
        config.find(command_path(command), option->get_lnames().front()) != nullptr)
      option->required(false);
}

Status apply_defaults(const Config& config, CLI::App& app, CLI::App& command) {
  ASSAY_TRY(apply(config, command_path(command), command));
  return apply(config, command_path(command), app);
}

}  // namespace assay::cli
