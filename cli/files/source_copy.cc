#include "cli/files/source_copy.h"

#include "assay/base/common_folder.h"
#include "assay/base/file.h"

namespace assay::cli {
namespace fs = std::filesystem;

SourceCopy::SourceCopy(const fs::path& file, const SourceFiles& files)
    : root_(input::absolute_path(file).parent_path()), file_(input::absolute_path(file)) {
  for (const auto& [path, held] : files) root_ = common_folder(root_, fs::path(path).parent_path());
  for (const auto& [path, held] : files)
    texts_.emplace(fs::path(path).lexically_relative(root_).string(), held->bytes);
}

SourceCopy SourceCopy::of(const input::KernelSource& source) {
  return {source.named.file, *source.files};
}

Result<SourceCopy> SourceCopy::read(const fs::path& file, const std::vector<std::string>& sources) {
  ASSAY_TRY(const SourceFiles files, input::SourceReader().read_with_brought(file, sources));
  return SourceCopy(file, files);
}

Result<fs::path> SourceCopy::write(const fs::path& folder) const {
  for (const auto& [name, text] : texts_) {
    const fs::path path = folder / name;
    ASSAY_TRY(make_directories(path.parent_path().string()));
    ASSAY_TRY(write_file_atomic(path.string(), text));
  }
  return folder / file_name();
}

fs::path SourceCopy::file_name() const { return file_.lexically_relative(root_); }

std::vector<fs::path> SourceCopy::files() const {
  std::vector<fs::path> files;
  for (const auto& [name, text] : texts_) files.push_back(root_ / name);
  return files;
}

}  // namespace assay::cli
