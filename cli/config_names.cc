#include "cli/config_names.h"

#include <algorithm>
#include <set>

#include <CLI/CLI.hpp>

#include "assay/base/archive_schema.h"
#include "assay/input/form.h"
#include "assay/kernel/ranker.h"
#include "cli/flags/arguments.h"

namespace assay::cli {
namespace {

void add_flags_of(const CLI::App& app, std::span<const std::unique_ptr<Command>> commands,
                  ConfigNames& names) {
  for (const auto& command : commands) {
    const CLI::App& own = *app.get_subcommand(command->name());
    names.commands[command_path(own)] = long_flags(own);
    add_flags_of(own, command->commands(), names);
  }
}

// "#/$defs/value": a flag's, as texts_of() in config.cc takes it.
Json value_ref() { return {{"$ref", "#/$defs/value"}}; }

// Some of these names and no others, each with a value as `value` says.
Json some_of(const std::set<std::string>& names, Json value) {
  return {{"type", "object"},
          {"propertyNames", words_schema(names)},
          {"additionalProperties", std::move(value)}};
}

Json provider_schema_of(const ConfigNames& names, const std::string& provider) {
  std::set<std::string> known = {kLibrarySetting};
  if (const auto own = names.settings.find(provider); own != names.settings.end())
    known.insert(own->second.begin(), own->second.end());
  return some_of(known, {{"type", "string"}});
}

}  // namespace

ConfigNames config_names(const CommandLine& line) {
  ConfigNames names;
  for (const std::string& flag : long_flags(line.app()))
    if (flag != "config" && flag != "version") names.everywhere.push_back(flag);
  add_flags_of(line.app(), line.commands(), names);
  for (const auto& provider : built_in_providers()) {
    const ProviderInfo& info = provider->info();
    names.providers.push_back(info.name);
    for (const ProviderSetting& setting : info.settings)
      names.settings[info.name].push_back(setting.name);
  }
  for (const auto& ranker : built_in_rankers()) names.providers.push_back(ranker->info().name);
  names.check = [](const std::string& name, const ProviderSettings& settings) -> Status {
    for (const auto& provider : built_in_providers())
      if (provider->info().name == name) return provider->check(settings);
    return {};
  };
  return names;
}

Json config_schema(const ConfigNames& names) {
  // A word may be a flag, and a command or a provider as well.
  std::map<std::string, std::vector<Json>> kinds;
  std::set<std::string> flags(names.everywhere.begin(), names.everywhere.end());
  for (const auto& [command, own] : names.commands) flags.insert(own.begin(), own.end());
  for (const std::string& flag : flags) kinds[flag].push_back(value_ref());
  for (const auto& [command, own] : names.commands) {
    std::set<std::string> all(names.everywhere.begin(), names.everywhere.end());
    all.insert(own.begin(), own.end());
    kinds[command].push_back(some_of(all, value_ref()));
  }
  for (const std::string& provider : names.providers)
    if (!names.commands.contains(provider))
      kinds[provider].push_back(provider_schema_of(names, provider));
  Json properties = Json::object();
  for (auto& [name, schemas] : kinds)
    properties[name] = schemas.size() == 1 ? schemas.front() : Json{{"anyOf", schemas}};
  const input::Form value = input::Form::texts(input::Form::scalar(), 1);
  return with_head("Defaults of flags, and settings of providers (--config)",
                   {{"type", "object"},
                    {"properties", std::move(properties)},
                    {"additionalProperties", false},
                    {"$defs", {{"value", value.schema()}}}});
}

}  // namespace assay::cli
