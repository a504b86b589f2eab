#include "cli/source_copy.h"

#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay::cli {
namespace {

constexpr size_t kMaxSourceBytes = 16 << 20;
constexpr size_t kMaxFiles = 1000;

// The names in #include "..." lines, those under a false #if as well.
std::vector<std::string> included(std::string_view text) {
  std::vector<std::string> names;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("include")) continue;
    line = trim(line.substr(7));
    const auto close = line.find('"', 1);
    if (line.starts_with('"') && close != std::string_view::npos)
      names.emplace_back(line.substr(1, close - 1));
  }
  return names;
}

}  // namespace

Result<SourceCopy> SourceCopy::read(const std::filesystem::path& file,
                                    const std::vector<std::string>& sources) {
  SourceCopy copy;
  copy.file_ = std::filesystem::absolute(file).lexically_normal();
  copy.root_ = copy.file_.parent_path();
  std::vector<std::filesystem::path> open = {copy.file_};
  open.insert(open.end(), sources.begin(), sources.end());
  while (!open.empty() && copy.texts_.size() < kMaxFiles) {
    const std::filesystem::path path = open.back().lexically_normal();
    open.pop_back();
    const std::string name = path.lexically_relative(copy.root_).string();
    if (name.empty() || name.starts_with("..") || copy.texts_.contains(name)) continue;
    auto text = read_file(path.string(), kMaxSourceBytes);
    if (!text && path != copy.file_) continue;  // Found along -I, or not needed at all.
    if (!text) return fail(std::move(text).error());
    for (const std::string& other : included(*text)) open.push_back(path.parent_path() / other);
    copy.texts_.emplace(name, std::move(*text));
  }
  return copy;
}

Result<std::filesystem::path> SourceCopy::write(const std::filesystem::path& folder) const {
  for (const auto& [name, text] : texts_) {
    const std::filesystem::path path = folder / name;
    ASSAY_TRY(make_directories(path.parent_path().string()));
    ASSAY_TRY(write_file_atomic(path.string(), text));
  }
  return folder / file_.lexically_relative(root_);
}

std::vector<std::filesystem::path> SourceCopy::files() const {
  std::vector<std::filesystem::path> files;
  for (const auto& [name, text] : texts_) files.push_back(root_ / name);
  return files;
}

}  // namespace assay::cli
