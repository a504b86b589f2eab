#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/kernel/artifact.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kManifest = "manifest.json";
constexpr size_t kMostManifestBytes = 16 << 20;
constexpr size_t kMostArtifactBytes = size_t{1} << 30;
constexpr int64_t kHealNs = 60'000'000'000;            // Healing is one rename.
constexpr auto kLeftOverAge = std::chrono::hours(24);  // No build takes that long.

// The cache is ours: whatever keeps us from writing it is the machine's fault, not a user's file's.
Error machine_error(Error error) {
  error.code = ErrorCode::machine;
  return with_context(std::move(error), "artifact cache");
}

tl::unexpected<Error> system_error(std::string_view doing, const std::string& path, int number) {
  return fail(ErrorCode::machine, "artifact cache: {}cannot {} '{}': {}",
              number == ENOSPC || number == EDQUOT ? "disk full: " : "", doing, sanitize(path),
              errno_text(number));
}

std::string hash_of(const std::string& bytes_hash, const Json& facts) {
  return sha256_hex(canonical({{"bytes", bytes_hash}, {"facts", facts}}));
}

struct Loaded {
  std::optional<Artifact> artifact;
  std::string defect;  // Why an entry that is there cannot be used; empty if there is none.
};

Loaded load(const std::string& folder, const std::string& key_text) {
  Loaded loaded;
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0) return loaded;
  const std::string manifest = folder + "/" + std::string(kManifest);
  const auto defect = [&](std::string why) {
    loaded.defect = std::move(why);
    return loaded;
  };
  auto text = read_file(manifest, kMostManifestBytes);
  if (!text) return defect(text.error().message);
  auto json = parse_json(*text, manifest);
  if (!json) return defect(json.error().message);
  const auto field = [&](const char* name) -> std::string {
    const auto found = json->is_object() ? json->find(name) : json->end();
    return json->is_object() && found != json->end() && found->is_string()
               ? found->get<std::string>()
               : std::string();
  };
  if (!json->is_object() || !json->contains("key") || !json->contains("facts")) {
    return defect("its manifest is incomplete");
  }
  if (canonical(json->at("key")) != key_text) return defect("its manifest is of another key");
  const std::string file = field("file");
  if (!matches_name_rule(file)) return defect("its manifest names no file");
  auto bytes = read_file(folder + "/" + file, kMostArtifactBytes);
  if (!bytes) return defect(bytes.error().message);
  const std::string bytes_hash = sha256_hex(*bytes);
  if (bytes_hash != field("sha256"))
    return defect(file + " does not have the hash in its manifest");
  if (hash_of(bytes_hash, json->at("facts")) != field("hash")) {
    return defect("its facts do not have the hash in its manifest");
  }
  loaded.artifact = Artifact{field("hash"), folder + "/" + file, json->at("facts")};
  return loaded;
}

Status sync_path(const std::string& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return system_error("open", path, errno);
  // Some file systems cannot sync a folder and say EINVAL.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return system_error("sync", path, errno);
  return {};
}

}  // namespace

fs::path ArtifactCache::entry_folder(const Json& key) const {
  const std::string hash = sha256_hex(canonical(key));
  return root_ / hash.substr(0, 2) / hash;
}

ArtifactCache ArtifactCache::without_building() const {
  ArtifactCache cache = *this;
  cache.builds_ = false;
  return cache;
}

Result<Artifact> ArtifactCache::get_or_build(const Json& key, const Builder& builder) const {
  const std::string key_text = canonical(key);
  const std::string folder = entry_folder(key).string();
  Loaded loaded = load(folder, key_text);
  if (loaded.artifact) return std::move(*loaded.artifact);
  if (!builds_)
    return fail(ErrorCode::not_found, "{}",
                loaded.defect.empty() ? "the cache has no such entry"
                                      : fmt::format("{}: {}", folder, loaded.defect));
  if (!loaded.defect.empty()) {
    log_.warning("rebuilding the cached artifact in '{}': {}", sanitize(folder),
                 sanitize(loaded.defect));
    ASSAY_TRY(heal(folder, key_text));
  }
  return build(folder, key_text, builder);
}

// Moves a corrupt entry out of the way. The lock keeps us from moving the good entry that somebody
// who found the same defect has put there meanwhile.
Status ArtifactCache::heal(const std::string& folder, const std::string& key_text) const {
  auto lock = FileLock::lock(folder + ".lock", {.deadline_ns = monotonic_ns() + kHealNs});
  if (!lock) return fail(machine_error(std::move(lock.error())));
  if (load(folder, key_text).artifact) return {};
  auto aside = TemporaryDirectory::create((root_ / "tmp").string(), "corrupt-");
  if (!aside) {
    if (auto made = make_directories((root_ / "tmp").string()); !made) {
      return fail(machine_error(std::move(made.error())));
    }
    aside = TemporaryDirectory::create((root_ / "tmp").string(), "corrupt-");
    if (!aside) return fail(machine_error(std::move(aside.error())));
  }
  if (::rename(folder.c_str(), aside->file("entry").c_str()) != 0 && errno != ENOENT) {
    return system_error("move aside", folder, errno);
  }
  return {};  // `aside` goes with all that is in it.
}

Result<Artifact> ArtifactCache::build(const std::string& folder, const std::string& key_text,
                                      const Builder& builder) const {
  for (const fs::path& needed : {fs::path(folder).parent_path(), root_ / "tmp"}) {
    if (auto made = make_directories(needed.string()); !made) {
      return fail(machine_error(std::move(made.error())));
    }
  }
  remove_left_overs();
  auto temporary = TemporaryDirectory::create((root_ / "tmp").string(), "build-");
  if (!temporary) return fail(machine_error(std::move(temporary.error())));

  Result<Built> built = Built{};
  try {
    built = builder(temporary->path());
  } catch (const std::exception& error) {
    built = fail(ErrorCode::failed, "the builder threw: {}", error.what());
  }
  if (!built) return fail(std::move(built.error()));
  if (!matches_name_rule(built->file_name) || built->file_name == kManifest) {
    return fail(ErrorCode::internal, "a builder left '{}', which is no file name",
                sanitize(built->file_name, 100));
  }
  const std::string file = temporary->file(built->file_name);
  auto bytes = read_file(file, kMostArtifactBytes);
  if (!bytes) return fail(with_context(std::move(bytes.error()), "what a builder left"));

  Artifact artifact;
  const std::string bytes_hash = sha256_hex(*bytes);
  // As it will be read again, so that the hash is the same then.
  ASSAY_TRY(artifact.facts, parse_json(canonical(built->facts), "facts"));
  artifact.hash = hash_of(bytes_hash, artifact.facts);
  ASSAY_TRY(Json key, parse_json(key_text, "key"));
  const Json manifest = {{"schema", "assay-artifact-v1"}, {"key", std::move(key)},
                         {"file", built->file_name},      {"sha256", bytes_hash},
                         {"bytes", bytes->size()},        {"facts", artifact.facts},
                         {"hash", artifact.hash}};
  ASSAY_TRY(sync_path(file, O_RDONLY));
  // Writes, syncs, renames, and syncs the folder.
  if (auto written = write_file_atomic(temporary->file(kManifest), dump_pretty(manifest));
      !written) {
    return fail(machine_error(std::move(written.error())));
  }
  // mkdtemp's folders are private; an entry is as open as the folder that it lies in.
  struct stat parent {};
  if (::stat(fs::path(folder).parent_path().c_str(), &parent) == 0) {
    ::chmod(temporary->path().c_str(), parent.st_mode & 0777);
  }
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (::rename(temporary->path().c_str(), folder.c_str()) == 0) {
      temporary->release();
      ASSAY_TRY(sync_path(fs::path(folder).parent_path().string(), O_RDONLY | O_DIRECTORY));
      artifact.file = folder + "/" + built->file_name;
      return artifact;
    }
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) {
      return system_error("put in place", folder, errno);
    }
    // Somebody was faster: what is there is used, unless it is corrupt.
    Loaded theirs = load(folder, key_text);
    if (theirs.artifact) return std::move(*theirs.artifact);
    ASSAY_TRY(heal(folder, key_text));
  }
  return fail(ErrorCode::machine, "artifact cache: '{}' is found corrupt again and again",
              sanitize(folder));
}

// What killed builds have left.
void ArtifactCache::remove_left_overs() const {
  std::error_code ignored;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(root_ / "tmp", ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (!gone && now - written > kLeftOverAge) fs::remove_all(at->path(), gone);
  }
}

}  // namespace assay
