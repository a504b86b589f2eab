#pragma once

// A version of a user's kernel set aside, so that it can be built again after the file was saved.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

// The text of a kernel's files, read at one moment.
class SourceCopy {
 public:
  // `file`: what the user named; `sources`: what it needs besides. Files that these include by
  // #include "..." belong to it where they lie below the file's folder.
  static Result<SourceCopy> read(const std::filesystem::path& file,
                                 const std::vector<std::string>& sources);

  // Writes it below `folder`, as it lay; returns where the file itself is then.
  Result<std::filesystem::path> write(const std::filesystem::path& folder) const;

  std::vector<std::filesystem::path> files() const;  // Absolute.
  bool operator==(const SourceCopy&) const = default;

 private:
  std::filesystem::path root_, file_;
  std::map<std::string, std::string> texts_;  // By path below root_.
};

}  // namespace assay::cli
