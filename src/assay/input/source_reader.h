#pragma once

// Users' files, each read once: whoever asks again gets the same bytes, whatever became of the file
// on the disk.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/kernel/provider.h"

namespace assay::input {

class SourceReader {
 public:
  // Errors of read_file(), which are not remembered.
  Result<std::shared_ptr<const SourceFile>> read(const std::filesystem::path& path,
                                                 size_t most = kMostBytes);

  // The file, `others`, and what these bring along: what they name by #include "..." where it is
  // found beside the file that does (headers along -I are not), modules that Python imports, and
  // definitions of operations with their references.
  // Errors are those of the file itself.
  Result<SourceFiles> read_with_brought(const std::filesystem::path& file,
                                        const std::vector<std::string>& others);

  static constexpr size_t kMostBytes = size_t{256} << 20;  // A plug-in may be large.

 private:
  SourceFiles files_;
};

std::shared_ptr<const SourceFile> make_source_file(std::string bytes);

// As files are known: without "." and "..".
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace assay::input
