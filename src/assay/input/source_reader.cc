#include "assay/input/source_reader.h"

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/input/operation_file.h"
#include "assay/input/python_files.h"

namespace assay::input {
namespace {

namespace fs = std::filesystem;

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

// What stands behind `field:`, without quotes: one word, up to the name of a function in that file.
std::vector<std::string> named_by(std::string_view field, std::string_view text) {
  std::vector<std::string> names;
  for (size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at)) {
    at += field.size();
    std::string_view word = trim(text.substr(at, text.find_first_of(",}\n", at) - at));
    if (word.size() > 1 && (word.front() == '"' || word.front() == '\''))
      word = word.substr(1, word.find(word.front(), 1) - 1);
    names.emplace_back(word.substr(0, word.find("::")));
  }
  return names;
}

// The operation that kernels compute, if a user defines it, and that definition's reference.
std::vector<std::string> defined_by(const fs::path& path, std::string_view text) {
  if (is_operation_file(path.string())) return named_by("reference:", text);
  std::vector<std::string> names = named_by("operation:", text);
  std::erase_if(names, [](const std::string& name) { return !is_operation_file(name); });
  return names;
}

}  // namespace

fs::path absolute_path(const fs::path& path) {
  std::error_code failed;
  fs::path result = fs::absolute(path, failed);
  return failed ? path : result.lexically_normal();
}

std::shared_ptr<const SourceFile> make_source_file(std::string bytes) {
  std::string hash = sha256_hex(bytes);
  return std::make_shared<const SourceFile>(SourceFile{std::move(bytes), std::move(hash)});
}

Result<std::shared_ptr<const SourceFile>> SourceReader::read(const fs::path& path, size_t most) {
  const fs::path known = absolute_path(path);
  if (const auto found = files_.find(known.string()); found != files_.end()) return found->second;
  ASSAY_TRY(std::string bytes, read_file(path.string(), most));
  return files_.emplace(known.string(), make_source_file(std::move(bytes))).first->second;
}

Result<SourceFiles> SourceReader::read_with_brought(const fs::path& file,
                                                    const std::vector<std::string>& others) {
  const fs::path first = absolute_path(file);
  SourceFiles files;
  std::vector<fs::path> open = {first};
  open.insert(open.end(), others.begin(), others.end());
  while (!open.empty() && files.size() < kMaxFiles) {
    const fs::path path = absolute_path(open.back());
    open.pop_back();
    if (files.contains(path.string())) continue;
    const auto read = this->read(path);
    if (!read && path != first) continue;  // Found along -I, or not needed at all.
    if (!read) return fail(read.error());
    const std::string& text = (*read)->bytes;
    for (const auto& named : {included(text), defined_by(path, text)})
      for (const std::string& other : named)
        if (!other.empty() && !fs::path(other).is_absolute())
          open.push_back(path.parent_path() / other);
    if (path.extension() == ".py")
      for (fs::path& other : imported_files(text, path, first.parent_path()))
        open.push_back(std::move(other));
    files.emplace(path.string(), *read);
  }
  return files;
}

}  // namespace assay::input
