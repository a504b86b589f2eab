#include "assay/sweep/worker_kernels.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/text.h"
#include "assay/kernel/metadata_table.h"
#include "assay/kernel/taker.h"
#include "assay/sweep/kernel_choice.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {

Result<Json> WorkerKernels::add_providers(const Json& wanted) {
  Json described = Json::array();
  for (const auto& provider : providers_) {
    const ProviderInfo& info = provider->info();
    for (const Json& want : wanted) {
      if (want.value("name", std::string()) != info.name) continue;
      ProviderSettings settings;
      const Json given = want.value("settings", Json::object());
      for (const auto& [key, value] : given.items())
        if (value.is_string()) settings[key] = value.get<std::string>();
      const Availability availability = provider->availability(settings);
      const std::string as = want.value("as", std::string());
      if (as.empty()) settings_[info.name] = settings;
      ASSAY_TRY(add(*provider, availability, settings, as));
      described.push_back({{"name", as.empty() ? info.name : as},
                           {"role", assay::to_string(info.role)},
                           {"available", availability.available},
                           {"reason", availability.reason},
                           {"version", availability.version},
                           {"path", availability.path},
                           {"details", availability.details},
                           {"remark", availability.remark}});
    }
  }
  return described;
}

void WorkerKernels::add(const CatalogSetup& setup) {
  if (!setup) return;
  setup(catalog_);
  native_guests_ = true;
}

Result<Json> WorkerKernels::add_sources(const std::vector<input::KernelSource>& sources) {
  for (size_t i = 0; i < sources.size(); ++i)
    for (const KernelEntry& entry : sources[i].entries) ASSAY_TRY(take(entry, i));
  Json waiting = Json::array();
  for (const Guest& guest : guests_)
    waiting.push_back(
        {{"file", guest.file}, {"provider", guest.provider->info().name}, {"family", guest.name}});
  return waiting;
}

Status WorkerKernels::add(const Provider& provider, const Availability& availability,
                          const ProviderSettings& settings, const std::string& as) {
  if (as.empty()) {
    catalog_.add(provider, settings);  // A missing library is a refusal with its reason.
    return {};
  }
  if (!availability.available) return {};
  ASSAY_TRY(auto families, provider.families(settings));
  const ProviderInfo& info = provider.info();
  for (auto& family : families) catalog_.add(as, own_role(info), std::move(family), info.rank);
  return {};
}

Status WorkerKernels::take(const KernelEntry& entry, size_t file) {
  const Provider* const taker = find_taker(providers_, entry);
  if (taker == nullptr) {
    const std::string extension = entry.source.extension().string();
    const std::string what =
        !entry.provider.empty() ? entry.provider
        : !extension.empty()
            ? extension
            : fmt::format("'{}', whose name has no ending", sanitize(entry.source.string(), 300));
    return fail(ErrorCode::invalid_input,
                "{}: no provider takes {}; name one with the field provider", entry.origin, what);
  }
  // By the provider, not by where the entry's results come from: host code that launches is native.
  native_guests_ = native_guests_ || !taker->info().on_card;
  if (!taker->runs_code_to_bring()) return bring(*taker, entry);
  Guest guest{.entry = entry, .name = entry.name, .provider = taker, .file = file};
  guest.open_file.reset(::open(entry.source.c_str(), O_RDONLY | O_CLOEXEC));
  guests_.push_back(std::move(guest));
  return {};
}

Status WorkerKernels::bring(const Provider& provider, const KernelEntry& entry) {
  const auto settings = settings_.find(provider.info().name);
  ASSAY_TRY(auto family, provider.bring(entry, settings == settings_.end() ? ProviderSettings()
                                                                           : settings->second));
  catalog_.add(provider.info().name, provider.info().role, std::move(family));
  return {};
}

Status WorkerKernels::welcome(Guest& guest) {
  if (guest.here) return {};
  if (!admits_guests_)
    return fail(ErrorCode::internal, "{}: its code is not for a process with all its rights",
                guest.entry.origin);
  KernelEntry entry = guest.entry;
  if (::faccessat(AT_FDCWD, entry.source.c_str(), R_OK, AT_EACCESS) != 0) {
    const std::string open = fmt::format("/proc/self/fd/{}", guest.open_file.get());
    auto files = std::make_shared<SourceFiles>(*entry.files);
    (*files)[open] = files->at(entry.source.lexically_normal().string());
    entry.files = std::move(files);
    entry.source = open;
  }
  if (::faccessat(AT_FDCWD, entry.source.c_str(), R_OK, AT_EACCESS) != 0)
    return fail(ErrorCode::invalid_input,
                "{}: cannot be read by the user that kernels run as; make it readable (chmod "
                "a+r)",
                entry.origin);
  ASSAY_TRY(loads_.around(guest.provider->info().name + "/" + guest.name,
                          [&] { return bring(*guest.provider, entry); }));
  guest.here = true;
  return {};
}

Status WorkerKernels::bring_file(int64_t file) {
  for (Guest& guest : guests_)
    if (static_cast<int64_t>(guest.file) == file) ASSAY_TRY(welcome(guest));
  return {};
}

Result<Json> WorkerKernels::discover(const Json& message, const Target& here) {
  KernelQuery query;
  query.filter = message.value("filter", std::string());
  for (const Json& provider : message.value("providers", Json::array()))
    if (provider.is_string()) query.providers.push_back(provider.get<std::string>());
  for (const Json& family : message.value("families", Json::array()))
    if (family.is_string()) query.families.push_back(family.get<std::string>());
  ASSAY_TRY(const auto only, choices_from_json(message.value("only", Json::array())));
  if (!only.empty())
    query.where = [&](const KernelMetadata& row) {
      const ProviderRole role = role_of(row.provider(), row.family());
      return std::ranges::all_of(
          only, [&](const KernelChoice& choice) { return choice.admits(row, role); });
    };
  const std::string target = message.value("target", here.to_string());
  ASSAY_TRY(query.target, Target::parse(target));
  Result<Found> found = Found{};
  if (message.contains("problem")) {
    ASSAY_TRY(const Problem problem, problem_from(message));
    found = catalog_.get_kernels(problem, query);
  } else {
    if (!message.contains("target")) query.target.reset();
    found = catalog_.get_kernels(query);
  }
  if (!found) return fail(std::move(found).error());
  Json answer;
  std::vector<KernelMetadata> rows;
  rows.reserve(found->kernels.size());
  for (const Kernel& kernel : found->kernels) rows.push_back(kernel.metadata());
  Json& table = answer["kernels"] = table_json(rows);
  for (Json& block : table)
    block["role"] = assay::to_string(role_of(block["shared"]["provider"].get<std::string>(),
                                             block["shared"]["family"].get<std::string>()));
  answer["refusals"] = found->refusals.to_json();
  Json& missing = answer["missing"] = Json::object();
  for (const auto& [provider, reason] : catalog_.missing()) missing[provider] = reason;
  return answer;
}

ProviderRole WorkerKernels::role_of(std::string_view provider, std::string_view family) const {
  for (const auto& entry : catalog_.entries())
    if (entry.provider == provider && entry.family->name() == family) return entry.role;
  return ProviderRole::user;
}

Result<Kernel> WorkerKernels::find(const Json& row) {
  ASSAY_TRY(const KernelMetadata metadata, KernelMetadata::from_json(row));
  for (Guest& guest : guests_)
    if (guest.name == metadata.family() && guest.provider->info().name == metadata.provider())
      ASSAY_TRY(welcome(guest));
  return catalog_.from_metadata(metadata);
}

}  // namespace assay::sweep
