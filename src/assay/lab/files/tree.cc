#include "assay/lab/files/tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/json.h"
#include "assay/base/text.h"
#include "assay/base/utf8.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostTreeFileBytes = size_t{64} << 20;
constexpr size_t kMostFiles = 20'000;
constexpr size_t kMostPathBytes = 1024;  // In the case: where it lies takes some of 4,096, too.
constexpr std::array<std::string_view, 10> kLeftOut = {
    ".git",    ".venv", "__pycache__", "build",        ".env",
    "scratch", "logs",  ".cache",      "node_modules", ".pytest_cache"};

Error tree_error(const fs::path& path, const std::error_code& error) {
  return Error{ErrorCode::machine,
               fmt::format("{}: {}", sanitize(path.string(), 500), error.message())};
}

Result<std::string> bytes_of(const fs::path& path, std::string_view kind) {
  if (kind != "link") return read_file(path.string(), kMostTreeFileBytes);
  std::error_code failed;
  const fs::path target = fs::read_symlink(path, failed);
  if (failed) return fail(tree_error(path, failed));
  return target.string();
}

// A tree is told as JSON, and another name would be made from bytes that are no UTF-8.
bool is_utf8(std::string_view text) {
  char32_t point = 0;
  while (!text.empty()) {
    const size_t length = decode_utf8(text, point);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status check_name(const fs::path& within) {
  const std::string name = within.generic_string();
  if (name.size() > kMostPathBytes)
    return fail(ErrorCode::invalid_input, "{}...: a path of more than {} bytes, which is not kept",
                sanitize(name, 100), kMostPathBytes);
  if (!is_utf8(name))
    return fail(ErrorCode::invalid_input, "{}: its name is no UTF-8, and cannot be kept",
                sanitize(name, 500));
  return {};
}

Result<std::string> kind_of(const fs::directory_entry& entry) {
  std::error_code failed;
  const fs::file_status status = entry.symlink_status(failed);
  if (failed) return fail(tree_error(entry.path(), failed));
  if (fs::is_symlink(status)) return "link";
  if (!fs::is_regular_file(status))
    return fail(ErrorCode::invalid_input,
                "{}: only files, folders and links can be kept in a case; move it elsewhere",
                sanitize(entry.path().string(), 500));
  if (entry.file_size(failed) > kMostTreeFileBytes)
    return fail(ErrorCode::invalid_input,
                "{}: larger than {}; put what is made into a folder build/ or scratch/, which is "
                "not kept, and models outside the case",
                sanitize(entry.path().string(), 500), format_bytes(kMostTreeFileBytes));
  const bool runs = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
  return runs ? "program" : "file";
}

}  // namespace

std::string Tree::text() const {
  Json list = Json::array();
  for (const TreeFile& file : files) list.push_back({file.path, file.kind, file.sha256});
  return canonical(list);
}

std::string Tree::hash() const { return sha256_hex(text()); }

Tree Tree::only(const std::function<bool(std::string_view path)>& wanted) const {
  Tree part;
  for (const TreeFile& file : files)
    if (wanted(file.path)) part.files.push_back(file);
  return part;
}

bool is_left_out(std::string_view name) {
  return std::ranges::find(kLeftOut, name) != kLeftOut.end() || name.ends_with(".pyc");
}

Result<Tree> read_tree(const fs::path& folder) {
  Tree tree;
  std::error_code failed;
  fs::recursive_directory_iterator entries(folder, failed), end;
  for (; !failed && entries != end; entries.increment(failed)) {
    const fs::path within = entries->path().lexically_relative(folder);
    const bool is_folder = entries->is_directory(failed) && !entries->is_symlink(failed);
    if (is_left_out(within.filename().string()) || within == "runs") {
      if (is_folder) entries.disable_recursion_pending();
      continue;
    }
    ASSAY_TRY(check_name(within));
    if (is_folder) continue;
    ASSAY_TRY(std::string kind, kind_of(*entries));
    ASSAY_TRY(const std::string bytes, bytes_of(entries->path(), kind));
    tree.files.push_back({within.generic_string(), std::move(kind), sha256_hex(bytes)});
    if (tree.files.size() > kMostFiles)
      return fail(
          ErrorCode::invalid_input,
          "{}: more than {} files; put what is made into a folder build/ or scratch/, which "
          "is not kept",
          sanitize(folder.string(), 500), kMostFiles);
  }
  if (failed) return fail(tree_error(folder, failed));
  std::ranges::sort(tree.files, {}, &TreeFile::path);
  return tree;
}

std::vector<std::string> differences(const Tree& before, const Tree& now) {
  std::map<std::string, std::pair<const TreeFile*, const TreeFile*>> paths;
  for (const TreeFile& file : before.files) paths[file.path].first = &file;
  for (const TreeFile& file : now.files) paths[file.path].second = &file;
  std::vector<std::string> lines;
  for (const auto& [path, sides] : paths) {
    const auto& [old_file, new_file] = sides;
    if (old_file == nullptr)
      lines.push_back("+ " + path);
    else if (new_file == nullptr)
      lines.push_back("- " + path);
    else if (*old_file != *new_file)
      lines.push_back("~ " + path);
  }
  return lines;
}

fs::path TreeStore::object(std::string_view hash) const {
  return objects_ / hash.substr(0, 2) / hash.substr(2);
}

Status TreeStore::put_bytes(std::string_view hash, std::string_view bytes) const {
  const fs::path path = object(hash);
  std::error_code ignored;
  if (fs::exists(path, ignored)) return {};
  ASSAY_TRY(make_directories(path.parent_path().string()));
  return write_file_atomic(path.string(), bytes);
}

Status TreeStore::put(const fs::path& folder, const Tree& tree) const {
  for (const TreeFile& file : tree.files) {
    std::error_code ignored;
    if (fs::exists(object(file.sha256), ignored)) continue;
    ASSAY_TRY(const std::string bytes, bytes_of(folder / file.path, file.kind));
    if (sha256_hex(bytes) != file.sha256)
      return fail(ErrorCode::busy, "{} changed while it was read; do not edit it during this",
                  sanitize(file.path, 300));
    ASSAY_TRY(put_bytes(file.sha256, bytes));
  }
  return put_bytes(tree.hash(), tree.text());
}

Result<Tree> TreeStore::get(std::string_view hash) const {
  const std::string path = object(hash).string();
  ASSAY_TRY(const std::string text, read_file(path));
  if (sha256_hex(text) != hash)
    return fail(ErrorCode::machine, "{}: not what was written there; it is damaged", path);
  ASSAY_TRY(const Json list, parse_json(text, path));
  Tree tree;
  for (const Json& file : list)
    tree.files.push_back({file.at(0).get<std::string>(), file.at(1).get<std::string>(),
                          file.at(2).get<std::string>()});
  return tree;
}

Result<std::string> TreeStore::text_of(const TreeFile& file) const {
  const std::string path = object(file.sha256).string();
  ASSAY_TRY(std::string bytes, read_file(path, kMostTreeFileBytes));
  if (sha256_hex(bytes) != file.sha256)
    return fail(ErrorCode::machine, "{}: not what was written there; it is damaged", path);
  return bytes;
}

Status TreeStore::write(const Tree& tree, const fs::path& folder) const {
  constexpr mode_t kFile = 0644, kProgram = 0755;
  for (const TreeFile& file : tree.files) {
    const fs::path path = folder / file.path;
    ASSAY_TRY(make_directories(path.parent_path().string()));
    ASSAY_TRY(const std::string bytes, text_of(file));
    if (file.kind == "link") {
      std::error_code failed;
      fs::create_symlink(bytes, path, failed);
      if (failed) return fail(tree_error(path, failed));
      continue;
    }
    ASSAY_TRY(write_file_atomic(path.string(), bytes));
    if (::chmod(path.c_str(), file.kind == "program" ? kProgram : kFile) != 0)
      return fail(ErrorCode::machine, "{}: {}", path.string(), errno_text(errno));
  }
  return {};
}

}  // namespace assay::lab
