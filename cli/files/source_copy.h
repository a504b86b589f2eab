#pragma once

// A version of a user's kernel set aside, so that it can be built again after the file was saved.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/input/kernel_source.h"

namespace assay::cli {

// The text of a kernel's files, read at one moment.
class SourceCopy {
 public:
  // As the source was read.
  static SourceCopy of(const input::KernelSource& source);
  // As the files are now (input/source_reader.h). `file`: what the user named; `sources`: what it
  // needs besides.
  static Result<SourceCopy> read(const std::filesystem::path& file,
                                 const std::vector<std::string>& sources);

  // Writes it below `folder`, as it lay; returns where the file itself is then.
  Result<std::filesystem::path> write(const std::filesystem::path& folder) const;

  std::filesystem::path file_name() const;           // Of the file itself, below the folder.
  std::vector<std::filesystem::path> files() const;  // Absolute.
  bool operator==(const SourceCopy&) const = default;

 private:
  SourceCopy(const std::filesystem::path& file, const SourceFiles& files);

  std::filesystem::path root_, file_;         // root_: the folder that all of them lie below.
  std::map<std::string, std::string> texts_;  // By path below root_.
};

}  // namespace assay::cli
