#pragma once

// An artifact: the compiled form of a kernel, bytes and facts, content-addressed and cached on
// disk. It never holds a live handle, so it crosses processes.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"

namespace assay {

struct Artifact {
  std::string hash;            // SHA-256 of bytes and facts: what ran.
  std::filesystem::path file;  // The bytes, in the cache; empty where the code lives in a library.
  Json facts;                  // compiler, flags, library path and version, registers, seconds ...

  Json to_json() const;
  static Result<Artifact> from_json(const Json& json);

  // For kernels whose code is in this process or a vendor's library.
  static Artifact without_bytes(Json facts);
};

// Entries are directories named by key: built in a temporary folder, fsynced, renamed in. Safe for
// concurrent writers, threads and processes: the first to rename wins, the others take what is
// there. An entry is `root/ab/abcd.../`: manifest.json and what the builder left.
class ArtifactCache {
 public:
  ArtifactCache(std::filesystem::path root, Log log)
      : root_(std::move(root)), log_(std::move(log)) {}

  // What a builder leaves: the file it wrote inside `folder`, and facts.
  struct Built {
    std::string file_name;
    Json facts;
  };
  using Builder = std::function<Result<Built>(const std::filesystem::path& folder)>;

  // key: everything the bytes depend on (source text, row, flags, compiler, target, unmasked
  // sizes). A corrupt entry (hash of bytes or facts differs, a file is missing) is rebuilt with a
  // warning to the log. Errors: the builder's own; machine where the disk is full or the folder
  // cannot be written, and then nothing of the entry is left behind.
  Result<Artifact> get_or_build(const Json& key, const Builder& builder) const;

  // The same entries; where one is missing or corrupt, get_or_build says not_found.
  ArtifactCache without_building() const;

  const std::filesystem::path& root() const { return root_; }

  // Where the entry of a key is, or would be.
  std::filesystem::path entry_folder(const Json& key) const;

 private:
  Result<Artifact> build(const std::string& folder, const std::string& key_text,
                         const Builder& builder) const;
  Status heal(const std::string& folder, const std::string& key_text) const;
  void remove_left_overs() const;

  std::filesystem::path root_;
  Log log_;
  bool builds_ = true;
};

}  // namespace assay
