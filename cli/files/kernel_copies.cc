#include "cli/files/kernel_copies.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/input/file_and_entry.h"
#include "cli/files/kernel_files.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "sources/manifest.json";
constexpr const char* kSchema = "assay.sources/1";
constexpr size_t kMaxManifestBytes = 16 << 20;

std::string folder_name(size_t index) { return fmt::format("sources/{}", index + 1); }

bool stays_inside(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return !path.empty() && path.is_relative() && !normal.empty() && *normal.begin() != "..";
}

}  // namespace

KernelCopies::KernelCopies(std::span<const input::KernelSource> sources) {
  for (size_t i = 0; i < sources.size(); ++i) {
    SourceCopy copy = SourceCopy::of(sources[i]);
    const fs::path folder = folder_name(i);
    KernelCopy& stamp = stamps_.emplace_back();
    stamp.given = sources[i].text();
    stamp.copy =
        input::FileAndEntry{(folder / copy.file_name()).string(), sources[i].named.entry}.text();
    for (auto& [name, hash] : hashes_of_files(sources[i]))
      stamp.sha256[(folder / name).string()] = hash;
    copies_.push_back(std::move(copy));
  }
}

Status KernelCopies::write(const fs::path& run_folder) const {
  if (copies_.empty()) return {};
  Json list = Json::array();
  for (size_t i = 0; i < copies_.size(); ++i) {
    ASSAY_TRY(copies_[i].write(run_folder / folder_name(i)).map([](const auto&) {}));
    list.push_back(
        {{"given", stamps_[i].given}, {"copy", stamps_[i].copy}, {"sha256", stamps_[i].sha256}});
  }
  return write_file_atomic((run_folder / kManifest).string(),
                           dump_pretty({{"schema", kSchema}, {"sources", std::move(list)}}));
}

namespace {

Result<std::vector<KernelCopy>> read_manifest(const std::string& path, const std::string& text) {
  ASSAY_TRY(const JsonDocument document, parse_json_document(text, path));
  const JsonField root(document);
  ASSAY_TRY(const JsonField schema, root.at("schema"));
  ASSAY_TRY(const std::string version, schema.as_string());
  if (version != kSchema)
    return fail(schema.error(ErrorCode::invalid_input,
                             fmt::format("'{}' is not {}", sanitize(version, 80), kSchema)));
  ASSAY_TRY(const JsonField list, root.at("sources"));
  ASSAY_TRY(const auto items, list.items());
  std::vector<KernelCopy> copies;
  for (const JsonField& item : items) {
    KernelCopy& copy = copies.emplace_back();
    ASSAY_TRY(const JsonField given, item.at("given"));
    ASSAY_TRY(copy.given, given.as_string());
    ASSAY_TRY(const JsonField where, item.at("copy"));
    ASSAY_TRY(copy.copy, where.as_string());
    ASSAY_TRY(const JsonField hashes, item.at("sha256"));
    ASSAY_TRY(const auto members, hashes.members());
    for (const auto& [name, hash] : members) {
      ASSAY_TRY(copy.sha256[name], hash.as_string());
    }
    const std::string file = input::split_entry(copy.copy).file;
    if (!stays_inside(file) || !copy.sha256.contains(file))
      return fail(where.error(ErrorCode::invalid_input,
                              fmt::format("'{}' is no copy that a run leaves beside its record",
                                          sanitize(copy.copy, 200))));
    for (const auto& [name, hash] : copy.sha256)
      if (!stays_inside(name))
        return fail(
            hashes.error(ErrorCode::invalid_input,
                         fmt::format("'{}' lies outside the run's folder", sanitize(name, 200))));
  }
  return copies;
}

// That what is there is what was raced.
Status check(const KernelCopy& copy, const fs::path& folder) {
  for (const auto& [name, hash] : copy.sha256) {
    const std::string path = (folder / name).string();
    const auto found = sha256_of_file(path);
    if (!found && found.error().code == ErrorCode::not_found)
      return fail(ErrorCode::missing,
                  "{}: the copy of {} that was raced is not there: keep a record's sources folder "
                  "beside it",
                  sanitize(path, 300), sanitize(copy.given, 200));
    if (!found) return fail(found.error());
    if (*found != hash)
      return fail(ErrorCode::invalid_input,
                  "{}: this is not what was raced: its SHA-256 was {}, and is {}",
                  sanitize(path, 300), sanitize(hash.substr(0, 16), 40), found->substr(0, 16));
  }
  return {};
}

// That the list is the one that was written with the record. Records made before they had stamps
// have nothing to be held against.
Status check_stamps(std::span<const KernelCopy> copies, std::span<const SourceStamp> recorded,
                    const std::string& path) {
  if (recorded.empty()) return {};
  if (copies.size() != recorded.size())
    return fail(
        ErrorCode::invalid_input,
        "{}: it lists {} files, and the record {}: keep a record's sources folder beside it, as "
        "the run left both",
        sanitize(path, 300), copies.size(), recorded.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    std::map<std::string, std::string> hashes;
    for (const auto& [name, hash] : copies[i].sha256)
      hashes[fs::path(name).lexically_relative(folder_name(i)).string()] = hash;
    if (input::hash_of_files(hashes) != recorded[i].sha256)
      return fail(ErrorCode::invalid_input,
                  "{}: what it says of {} is not what the record says was raced: keep a record's "
                  "sources folder beside it, as the run left both",
                  sanitize(path, 300), sanitize(recorded[i].given, 200));
  }
  return {};
}

}  // namespace

Result<std::vector<input::KernelSource>> kept_kernels(const fs::path& folder,
                                                      std::span<const SourceStamp> recorded) {
  const std::string path = (folder / kManifest).string();
  const auto text = read_file(path, kMaxManifestBytes);
  if (!text && text.error().code == ErrorCode::not_found) return std::vector<input::KernelSource>();
  if (!text) return fail(text.error());
  ASSAY_TRY(const auto copies, read_manifest(path, *text));
  ASSAY_TRY(check_stamps(copies, recorded, path));
  std::vector<std::string> kernels;
  for (const KernelCopy& copy : copies) {
    ASSAY_TRY(check(copy, folder));
    const auto [file, entry] = input::split_entry(copy.copy);
    kernels.push_back(input::FileAndEntry{(folder / file).string(), entry}.text());
  }
  ASSAY_TRY(auto sources, read_sources(kernels));
  // What was read is what was looked at.
  for (size_t i = 0; i < copies.size(); ++i)
    for (const auto& [name, held] : *sources[i].files)
      if (const auto hash = copies[i].sha256.find(
              fs::path(name).lexically_relative(input::absolute_path(folder)).string());
          hash != copies[i].sha256.end() && hash->second != held->sha256)
        return fail(ErrorCode::invalid_input, "{}: it changes while it is read; try again",
                    sanitize(name, 300));
  return sources;
}

}  // namespace assay::cli
