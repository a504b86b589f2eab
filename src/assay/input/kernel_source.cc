#include "assay/input/kernel_source.h"

#include <algorithm>
#include <map>
#include <set>

#include "assay/base/archive.h"
#include "assay/base/common_folder.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/manifest.h"
#include "assay/input/manifest_reader.h"
#include "assay/kernel/entry_archive.h"

namespace assay::input {
namespace {

// A file of a packed list.
struct PackedFile {
  std::string path, sha256;
  size_t begin = 0, bytes = 0;
};

template <class Archive, archive::Is<PackedFile> File>
void describe(Archive& archive, File& file) {
  archive.required("path", file.path);
  archive.required("sha256", file.sha256);
  archive.required("begin", file.begin, archive::kNotNegative);
  archive.required("bytes", file.bytes, archive::kNotNegative);
}

struct PackedEntry {
  Json entry;
  std::vector<size_t> files;  // Of the list.
};

template <class Archive, archive::Is<PackedEntry> Entry>
void describe(Archive& archive, Entry& entry) {
  archive.required("entry", entry.entry);
  archive.required("files", entry.files);
}

struct PackedSource {
  std::string file, entry;
  std::vector<PackedEntry> entries;
};

template <class Archive, archive::Is<PackedSource> Source>
void describe(Archive& archive, Source& source) {
  archive.required("file", source.file);
  archive("entry", source.entry);
  archive.required("entries", source.entries);
}

struct Packed {
  std::vector<PackedFile> files;
  std::vector<PackedSource> sources;
};

template <class Archive, archive::Is<Packed> Whole>
void describe(Archive& archive, Whole& packed) {
  archive.required("files", packed.files);
  archive.required("sources", packed.sources);
}

// Gathers files, each once.
class FileList {
 public:
  explicit FileList(std::vector<PackedFile>& files) : files_(files) {}

  size_t place_of(const std::string& path, const SourceFile& file, bool is_mapped) {
    const auto [at, is_new] = places_.emplace(path + '\n' + file.sha256, files_.size());
    if (!is_new) return at->second;
    const std::string_view sent = is_mapped ? std::string_view() : file.bytes;
    files_.push_back({path, file.sha256, bytes_.size(), sent.size()});
    bytes_ += sent;
    return at->second;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::vector<PackedFile>& files_;
  std::map<std::string, size_t> places_;
  std::string bytes_;
};

Result<std::shared_ptr<const SourceFile>> unpack_file(const PackedFile& file,
                                                      std::span<const std::byte> all) {
  if (file.begin > all.size() || file.bytes > all.size() - file.begin)
    return fail(ErrorCode::internal, "a file that was sent lies outside of what was sent");
  const auto* const begin = reinterpret_cast<const char*>(all.data() + file.begin);
  return std::make_shared<const SourceFile>(
      SourceFile{std::string(begin, begin + file.bytes), file.sha256});
}

}  // namespace

const SourceFile* KernelSource::file() const {
  if (files == nullptr) return nullptr;
  const auto found = files->find(absolute_path(named.file).string());
  return found == files->end() ? nullptr : found->second.get();
}

std::vector<std::string> KernelSource::families() const {
  std::vector<std::string> names;
  for (const KernelEntry& entry : entries) names.push_back(entry.name);
  return names;
}

Result<std::vector<KernelSource>> read_sources(std::span<const std::string> files_and_entries,
                                               const LaunchForms& forms) {
  SourceReader reader;
  std::vector<KernelSource> sources;
  for (const std::string& file_and_entry : files_and_entries) {
    KernelSource& source = sources.emplace_back();
    source.named = split_entry(file_and_entry);
    ASSAY_TRY(source.entries, read_kernels(source.named, forms, reader));
    std::vector<std::string> others;
    for (const KernelEntry& entry : source.entries) others.push_back(entry.source.string());
    ASSAY_TRY(SourceFiles files, reader.read_with_brought(source.named.file, others));
    source.files = std::make_shared<const SourceFiles>(std::move(files));
  }
  name_apart(sources);
  return sources;
}

void name_apart(std::span<KernelSource> sources) {
  std::set<std::string> taken;
  for (KernelSource& source : sources)
    for (KernelEntry& entry : source.entries) {
      const std::string own = entry.name;
      for (int n = 2; !taken.insert(entry.name).second; ++n)
        entry.name = fmt::format("{}_{}", own, n);
      if (entry.name != own)
        source.renamed.push_back(fmt::format("{} of {} is called {} here", sanitize(own, 100),
                                             sanitize(source.text(), 200), entry.name));
    }
}

std::map<std::string, std::string> hashes_of_files(const KernelSource& source) {
  std::map<std::string, std::string> hashes;
  if (source.files == nullptr) return hashes;
  std::filesystem::path root = absolute_path(source.named.file).parent_path();
  for (const auto& [path, held] : *source.files)
    root = common_folder(root, std::filesystem::path(path).parent_path());
  for (const auto& [path, held] : *source.files)
    hashes[std::filesystem::path(path).lexically_relative(root).string()] = held->sha256;
  return hashes;
}

std::string hash_of_files(const std::map<std::string, std::string>& hashes) {
  Sha256 hash;
  for (const auto& [name, sha256] : hashes) {
    hash.update_field(name);
    hash.update_field(sha256);
  }
  return hash.hex();
}

Result<PackedSources> pack(std::span<const KernelSource> sources) {
  Packed packed;
  FileList files(packed.files);
  for (const KernelSource& source : sources) {
    PackedSource& one = packed.sources.emplace_back();
    one.file = source.named.file;
    one.entry = source.named.entry;
    for (const KernelEntry& entry : source.entries) {
      PackedEntry& described = one.entries.emplace_back();
      described.entry = to_json(entry);
      const bool is_mapped = entry.provider == kPluginProvider;
      for (const auto& [path, file] : *entry.files)
        described.files.push_back(files.place_of(path, *file, is_mapped && entry.source == path));
    }
  }
  PackedSources result;
  result.json = archive::write_any(packed);
  ASSAY_TRY(result.bytes,
            create_sealed_memfd("assay-sources", std::as_bytes(std::span(files.bytes()))));
  return result;
}

Result<std::vector<KernelSource>> unpack(const Json& json, int bytes) {
  ASSAY_TRY(const MappedFile all, MappedFile::map_read_only(bytes, Seal::none));
  JsonDocument document;
  document.root = json;
  document.origin = "users' kernels";
  Packed packed;
  ASSAY_TRY(archive::read_any(JsonField(document), packed));
  std::vector<std::shared_ptr<const SourceFile>> files;
  for (const PackedFile& file : packed.files) {
    ASSAY_TRY(files.emplace_back(), unpack_file(file, all.bytes()));
  }
  std::vector<KernelSource> sources;
  for (const PackedSource& one : packed.sources) {
    KernelSource& source = sources.emplace_back();
    source.named = {one.file, one.entry};
    for (const PackedEntry& described : one.entries) {
      JsonDocument entry;
      entry.root = described.entry;
      entry.origin = document.origin;
      ASSAY_TRY(source.entries.emplace_back(), entry_from_json(JsonField(entry)));
      SourceFiles own;
      for (const size_t file : described.files) {
        if (file >= files.size()) return fail(ErrorCode::internal, "a file that was not sent");
        own.emplace(packed.files[file].path, files[file]);
      }
      source.entries.back().files = std::make_shared<const SourceFiles>(std::move(own));
    }
  }
  return sources;
}

}  // namespace assay::input
