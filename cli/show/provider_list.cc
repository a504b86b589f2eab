#include "cli/show/provider_list.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/kernel/ranker.h"

namespace assay::cli {
namespace {

const ProviderInfo* info_of(const std::vector<std::unique_ptr<Provider>>& built_in,
                            const std::string& name) {
  for (const auto& provider : built_in)
    if (provider->info().name == name) return &provider->info();
  return nullptr;
}

Json settings_json(const ProviderInfo* info) {
  Json settings = Json::object();
  if (info == nullptr) return settings;
  for (const ProviderSetting& setting : info->settings) settings[setting.name] = setting.values;
  return settings;
}

}  // namespace

Json providers_json(const std::vector<sweep::ProviderReport>& providers) {
  const auto built_in = built_in_providers();
  Json list = Json::array();
  for (const sweep::ProviderReport& provider : providers) {
    const ProviderInfo* info = info_of(built_in, provider.name);
    list.push_back({{"name", provider.name},
                    {"role", std::string(to_string(provider.role))},
                    {"available", provider.availability.available},
                    {"reason", provider.availability.reason},
                    {"version", provider.availability.version},
                    {"path", provider.availability.path},
                    {"details", provider.availability.details},
                    {"remark", provider.availability.remark},
                    {"summary", info == nullptr ? "" : info->summary},
                    {"rank", info == nullptr || info->rank == kNoRank ? Json() : Json(info->rank)},
                    {"licence", info == nullptr ? "" : info->licence},
                    {"packages", info == nullptr ? std::vector<std::string>() : info->packages},
                    {"settings", settings_json(info)}});
  }
  return list;
}

std::string providers_text(const std::vector<sweep::ProviderReport>& providers,
                           const report::TextStyle& style) {
  const auto built_in = built_in_providers();
  report::Table table;
  table.columns = {{.title = "provider"},
                   {.title = "role"},
                   {.title = "here"},
                   {.title = "version", .shrinks_to = 12},
                   {.title = "what", .shrinks_to = 20, .elide = report::Elide::middle}};
  std::string remarks, settings;
  for (const sweep::ProviderReport& provider : providers) {
    const Availability& has = provider.availability;
    const ProviderInfo* info = info_of(built_in, provider.name);
    table.rows.push_back({{{provider.name},
                           {std::string(to_string(provider.role))},
                           {has.available ? "yes" : "no",
                            has.available ? report::Tone::good : report::Tone::caution},
                           {sanitize(has.version, 120)},
                           {sanitize(!has.path.empty() ? has.path
                                     : info != nullptr ? info->summary
                                                       : "",
                                     240)}},
                          {}});
    if (info != nullptr)
      for (const ProviderSetting& setting : info->settings)
        settings += report::wrap(fmt::format("{} has a setting: --setting {}.{}={}", provider.name,
                                             provider.name, setting.name, setting.values),
                                 style.width, 2);
    if (has.available) {
      if (!has.remark.empty())
        remarks += report::wrap(fmt::format("{}: {}", provider.name, sanitize(has.remark, 600)),
                                style.width, 2);
      continue;
    }
    std::string sentence = fmt::format("{}: {}", provider.name, sanitize(has.reason, 600));
    if (info != nullptr && !info->packages.empty() &&
        has.reason.find("install") == std::string::npos)
      sentence += fmt::format("; install {}", join(info->packages, " or "));
    remarks += report::wrap(sentence, style.width, 2);
  }
  return report::text_table(table, style) + remarks + settings;
}

namespace {

RankerInfo ranker_info(const std::string& name) {
  for (const auto& ranker : built_in_rankers())
    if (ranker->info().name == name) return ranker->info();
  return {};
}

}  // namespace

Json rankers_json(const std::vector<sweep::RankerReport>& rankers) {
  Json list = Json::array();
  for (const sweep::RankerReport& ranker : rankers) {
    const RankerInfo info = ranker_info(ranker.name);
    list.push_back({{"name", ranker.name},
                    {"available", ranker.availability.available},
                    {"reason", ranker.availability.reason},
                    {"version", ranker.availability.version},
                    {"path", ranker.availability.path},
                    {"summary", info.summary},
                    {"licence", info.licence},
                    {"packages", info.packages}});
  }
  return list;
}

std::string rankers_text(const std::vector<sweep::RankerReport>& rankers,
                         const report::TextStyle& style) {
  report::Table table;
  table.columns = {{.title = "ranker"},
                   {.title = "here"},
                   {.title = "version", .shrinks_to = 12},
                   {.title = "what", .shrinks_to = 20, .elide = report::Elide::middle}};
  std::string missing;
  for (const sweep::RankerReport& ranker : rankers) {
    const Availability& has = ranker.availability;
    table.rows.push_back(
        {{{ranker.name},
          {has.available ? "yes" : "no",
           has.available ? report::Tone::good : report::Tone::caution},
          {sanitize(has.version, 120)},
          {sanitize(has.path.empty() ? ranker_info(ranker.name).summary : has.path, 240)}},
         {}});
    if (!has.available)
      missing += report::wrap(fmt::format("{}: {}", ranker.name, sanitize(has.reason, 600)),
                              style.width, 2);
  }
  return report::text_table(table, style) + missing;
}

}  // namespace assay::cli
