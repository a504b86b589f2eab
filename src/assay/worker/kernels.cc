#include "assay/worker/kernels.h"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/kernel/taker.h"

namespace assay::sweep {
namespace {

std::string endings_advice(const std::vector<std::unique_ptr<Provider>>& providers) {
  std::vector<std::string> known;
  for (const auto& provider : providers)
    for (const std::string& ending : provider->extensions()) known.push_back(ending);
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  return fmt::format(
      ", or end the file's name in {}; another language comes as a plug-in (docs/plugins.md)",
      join(known, ", "));
}

}  // namespace

Result<std::vector<process::Init::Answer::Offered>> WorkerKernels::add_providers(
    std::span<const process::AskedProvider> wanted) {
  std::vector<process::Init::Answer::Offered> offered;
  for (const auto& provider : providers_) {
    const ProviderInfo& info = provider->info();
    for (const process::AskedProvider& want : wanted) {
      if (want.name != info.name) continue;
      const Availability availability = provider->availability(want.settings);
      if (want.as.empty()) settings_[info.name] = want.settings;
      ASSAY_TRY(add(*provider, availability, want.settings, want.as));
      offered.push_back({want.as.empty() ? info.name : want.as, info.role, availability});
    }
  }
  return offered;
}

void WorkerKernels::add(const CatalogSetup& setup) {
  if (!setup) return;
  setup(catalog_);
  native_guests_ = true;
}

Result<std::vector<process::Init::Answer::Waiting>> WorkerKernels::add_sources(
    const std::vector<input::KernelSource>& sources) {
  for (size_t i = 0; i < sources.size(); ++i)
    for (const KernelEntry& entry : sources[i].entries) ASSAY_TRY(take(entry, i));
  std::vector<process::Init::Answer::Waiting> waiting;
  for (const Guest& guest : guests_)
    waiting.push_back({guest.file, guest.provider->info().name, guest.name});
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
                "{}: no provider takes {}; name one with the field provider{}", entry.origin, what,
                entry.provider.empty() ? endings_advice(providers_) : "");
  }
  // By the provider, not by where the entry's results come from: host code that launches is native.
  native_guests_ = native_guests_ || !taker->info().on_gpu;
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

Status WorkerKernels::bring_file(uint64_t file) {
  for (Guest& guest : guests_)
    if (guest.file == file) ASSAY_TRY(welcome(guest));
  return {};
}

Result<process::Discover::Answer> WorkerKernels::discover(const process::Discover& asked,
                                                          const Target& here) {
  KernelQuery query;
  query.filter = asked.filter;
  query.families = asked.families;
  if (!asked.only.empty())
    query.where = [&](const KernelMetadata& row) {
      const ProviderRole role = role_of(row.provider(), row.family());
      return std::ranges::all_of(
          asked.only, [&](const KernelChoice& choice) { return choice.admits(row, role); });
    };
  if (asked.target) {
    ASSAY_TRY(query.target, Target::parse(*asked.target));
  } else if (asked.problem) {
    query.target = here;
  }
  ASSAY_TRY(const Found found, asked.problem ? catalog_.get_kernels(**asked.problem, query)
                                             : catalog_.get_kernels(query));
  process::Discover::Answer answer;
  answer.kernels.reserve(found.kernels.size());
  for (const Kernel& kernel : found.kernels)
    answer.kernels.push_back(
        {kernel.metadata(), role_of(kernel.metadata().provider(), kernel.metadata().family())});
  answer.refusals = found.refusals;
  answer.missing = catalog_.missing();
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
