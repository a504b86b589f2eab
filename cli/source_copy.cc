#include "cli/source_copy.h"

#include <algorithm>

#include "assay/base/common_folder.h"
#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/python_files.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSourceBytes = 64 << 20;  // A plug-in may be large.
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

Result<SourceCopy> SourceCopy::read(const fs::path& file, const std::vector<std::string>& sources) {
  SourceCopy copy;
  copy.file_ = fs::absolute(file).lexically_normal();
  copy.root_ = copy.file_.parent_path();
  std::map<fs::path, std::string> texts;
  std::vector<fs::path> open = {copy.file_};
  open.insert(open.end(), sources.begin(), sources.end());
  while (!open.empty() && texts.size() < kMaxFiles) {
    const fs::path path = open.back().lexically_normal();
    open.pop_back();
    if (texts.contains(path)) continue;
    auto text = read_file(path.string(), kMaxSourceBytes);
    if (!text && path != copy.file_) continue;  // Found along -I, or not needed at all.
    if (!text) return fail(std::move(text).error());
    for (const std::string& other : included(*text))
      if (!fs::path(other).is_absolute()) open.push_back(path.parent_path() / other);
    if (path.extension() == ".py")
      for (fs::path& other : input::imported_files(*text, path, copy.file_.parent_path()))
        open.push_back(std::move(other));
    copy.root_ = common_folder(copy.root_, path.parent_path());
    texts.emplace(path, std::move(*text));
  }
  for (auto& [path, text] : texts)
    copy.texts_.emplace(path.lexically_relative(copy.root_).string(), std::move(text));
  return copy;
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

std::map<std::string, std::string> SourceCopy::sha256() const {
  std::map<std::string, std::string> hashes;
  for (const auto& [name, text] : texts_) hashes[name] = sha256_hex(text);
  return hashes;
}

}  // namespace assay::cli
