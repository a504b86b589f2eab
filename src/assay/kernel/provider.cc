#include "assay/kernel/provider.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::string_view kRoles[] = {"stock", "ours", "user", "reference"};
constexpr std::string_view kPlaces[] = {"FILE", "DIR", "PATH"};

}  // namespace

std::string_view to_string(ProviderRole role) { return kRoles[static_cast<size_t>(role)]; }

Result<ProviderRole> parse_provider_role(std::string_view text) {
  const auto* found = std::find(std::begin(kRoles), std::end(kRoles), text);
  if (found != std::end(kRoles)) return static_cast<ProviderRole>(found - std::begin(kRoles));
  return fail(ErrorCode::invalid_input,
              "unknown provider role '{}': must be stock, ours, user or reference",
              sanitize(text, 60));
}

ProviderRole own_role(const ProviderInfo& info) {
  return info.role == ProviderRole::user ? ProviderRole::ours : info.role;
}

bool may_be_recorded(const ProviderInfo& info, std::string_view setting) {
  const auto declared = std::ranges::find(info.settings, setting, &ProviderSetting::name);
  return declared != info.settings.end() &&
         std::ranges::none_of(kPlaces, [&](std::string_view place) {
           return declared->values.find(place) != std::string::npos;
         });
}

Result<std::shared_ptr<const Family>> Provider::bring(const KernelEntry& entry,
                                                      const ProviderSettings& settings) const {
  for (const std::string& flag : entry.flags)
    if (const Status allowed = check_flag(flag); !allowed)
      return fail(allowed.error().code, "{}: flags: {}", entry.origin, allowed.error().message);
  return do_bring(entry, settings);
}

Status Provider::check_flag(std::string_view flag) const {
  return fail(ErrorCode::invalid_input, "nothing is compiled here; remove '{}'",
              sanitize(flag, 100));
}

Result<std::shared_ptr<const Family>> Provider::do_bring(const KernelEntry& entry,
                                                         const ProviderSettings&) const {
  return fail(ErrorCode::unsupported, "{}: provider {} takes no files of users", entry.origin,
              info().name);
}

const SourceFile* find_file(const KernelEntry& entry, const std::filesystem::path& path) {
  if (entry.files == nullptr) return nullptr;
  const auto found = entry.files->find(path.lexically_normal().string());
  return found == entry.files->end() ? nullptr : found->second.get();
}

Result<std::string_view> source_bytes(const KernelEntry& entry, size_t most) {
  const SourceFile* const file = find_file(entry, entry.source);
  if (file == nullptr)
    return fail(ErrorCode::not_found, "{}: source: '{}' was not read", entry.origin,
                sanitize(entry.source.string(), 300));
  if (file->bytes.size() > most)
    return fail(ErrorCode::invalid_input, "{}: source: '{}' has {}, and at most {} are taken",
                entry.origin, sanitize(entry.source.string(), 300),
                format_bytes(static_cast<double>(file->bytes.size())),
                format_bytes(static_cast<double>(most)));
  return std::string_view(file->bytes);
}

Status check_brought_files(const KernelEntry& entry) {
  if (entry.files == nullptr) return {};
  for (const auto& [path, file] : *entry.files) {
    if (path == entry.source.lexically_normal().string()) continue;
    if (sha256_of_file(path).value_or("") != file->sha256)
      return fail(ErrorCode::invalid_input, "{}: '{}' has changed since it was read; start anew",
                  entry.origin, sanitize(path, 300));
  }
  return {};
}

}  // namespace assay
