#include "assay/lab/climb/merge.h"

#include <map>
#include <optional>
#include <ranges>

#include "assay/base/file.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

using Files = std::map<std::string, TreeFile>;

Files by_path(const Tree& tree) {
  Files files;
  for (const TreeFile& file : tree.files) files[file.path] = file;
  return files;
}

std::optional<TreeFile> at(const Files& files, const std::string& path) {
  const auto found = files.find(path);
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

class Merge {
 public:
  Merge(const MergeSides& sides, const TreeStore& store,
        const std::vector<std::string>& environment)
      : sides_(sides), store_(store), environment_(environment) {}

  Result<std::string> run() {
    ASSAY_TRY(const Tree ours, read_tree(sides_.ours));
    ASSAY_TRY(const Tree theirs, read_tree(sides_.theirs));
    const Files base = by_path(sides_.base), their_files = by_path(theirs);
    Files paths = base;
    const Files our_files = by_path(ours);
    paths.insert(our_files.begin(), our_files.end());
    // Backwards: what lay in a folder goes before a file takes the folder's place.
    for (const auto& [path, any] : paths | std::views::reverse) {
      const auto was = at(base, path), mine = at(our_files, path), yours = at(their_files, path);
      if (mine == was || mine == yours) continue;
      if (yours == was) {
        ASSAY_TRY(const bool taken, take(path, mine.has_value()));
        if (!taken) return path;
        continue;
      }
      if (!was || !mine || !yours || mine->kind != yours->kind || mine->kind == "link") return path;
      ASSAY_TRY(const bool merged, merge_texts(path, *was));
      if (!merged) return path;
    }
    return std::string();
  }

 private:
  // False: what stands there, or on the way there, is not what it was: a folder for a file, or a
  // link, which is not followed.
  Result<bool> take(const std::string& path, bool is_there) const {
    std::error_code failed;
    const fs::path target = sides_.theirs / path;
    for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path())
      if (const auto status = fs::symlink_status(sides_.theirs / above, failed);
          fs::exists(status) && !fs::is_directory(status))
        return false;
    fs::remove(target, failed);
    if (!is_there) return true;
    if (fs::exists(fs::symlink_status(target, failed))) return false;
    fs::create_directories(target.parent_path(), failed);
    fs::copy(sides_.ours / path, target, fs::copy_options::copy_symlinks, failed);
    if (failed)
      return fail(ErrorCode::machine, "{}: {}", sanitize(target.string(), 300), failed.message());
    return true;
  }

  // False: they conflict.
  Result<bool> merge_texts(const std::string& path, const TreeFile& was) const {
    ASSAY_TRY(const TemporaryDirectory folder, TemporaryDirectory::create());
    ASSAY_TRY(const std::string before, store_.text_of(was));
    ASSAY_TRY(write_file_atomic(folder.file("base"), before));
    SubprocessOptions options;
    options.argv = {"git",
                    "merge-file",
                    "-p",
                    (sides_.theirs / path).string(),
                    folder.file("base"),
                    (sides_.ours / path).string()};
    // Whoever set these meant another repository.
    for (const std::string& variable : environment_)
      if (!variable.starts_with("GIT_")) options.env.push_back(variable);
    options.working_directory = folder.path();
    CommandLimits limits;
    limits.max_output = kMaxFileBytes;
    const auto output = run_command(options, limits);
    if (!output && output.error().code == ErrorCode::not_found) return false;
    if (!output) return fail(output.error());
    // Its code is the count of conflicts, or above 127 for what is no text.
    if (!output->status.success() || output->truncated) return false;
    ASSAY_TRY(write_file_atomic((sides_.theirs / path).string(), output->out));
    return true;
  }

  const MergeSides& sides_;
  const TreeStore& store_;
  const std::vector<std::string>& environment_;
};

}  // namespace

Result<std::string> merge_change(const MergeSides& sides, const TreeStore& store,
                                 const std::vector<std::string>& environment) {
  return Merge(sides, store, environment).run();
}

Result<bool> copy_change(const Change& change, const fs::path& target) {
  ASSAY_TRY(const Tree after, read_tree(change.after));
  const Files was = by_path(change.before), is = by_path(after);
  std::string removed;
  for (const auto& [path, file] : was)
    if (!is.contains(path)) removed += path + '\n';
  bool any = false;
  for (const auto& [path, file] : is) {
    if (at(was, path) == file) continue;
    any = true;
    const fs::path copy = target / "files" / path;
    ASSAY_TRY(make_directories(copy.parent_path().string()));
    std::error_code failed;
    fs::copy(change.after / path, copy, fs::copy_options::copy_symlinks, failed);
    if (failed)
      return fail(ErrorCode::machine, "{}: {}", sanitize(copy.string(), 300), failed.message());
  }
  if (removed.empty()) return any;
  ASSAY_TRY(make_directories(target.string()));
  ASSAY_TRY(write_file_atomic((target / "removed").string(), removed));
  return true;
}

}  // namespace assay::lab
