#include "assay/lab/evaluate/slots.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "assay/base/file.h"
#include "assay/base/hash.h"
#include "assay/base/text.h"
#include "assay/lab/files/remove_tree.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

// Marks a folder as one that assay made and may empty.
constexpr const char* kOwn = "made-by-assay-lab";

Error machine_error(const fs::path& path, const std::error_code& error) {
  return Error{ErrorCode::machine, fmt::format("{}: {}", path.string(), error.message())};
}

std::string mark_for(const Tree& tree, const std::map<std::string, std::string>& variables) {
  if (variables.empty()) return tree.hash();
  std::string text;
  for (const auto& [name, value] : variables) text += name + '=' + value + '\0';
  return tree.hash() + " with " + sha256_hex(text);
}

}  // namespace

Result<FolderStamp> FolderStamp::of(const fs::path& folder) {
  FolderStamp stamp;
  std::error_code failed;
  fs::recursive_directory_iterator entries(folder, failed), end;
  for (; !failed && entries != end; entries.increment(failed)) {
    struct stat facts {};
    if (::lstat(entries->path().c_str(), &facts) != 0)
      return fail(ErrorCode::machine, "{}: {}", sanitize(entries->path().string(), 500),
                  errno_text(errno));
    if (S_ISDIR(facts.st_mode)) continue;
    stamp.files_[entries->path().lexically_relative(folder).generic_string()] = {
        static_cast<int64_t>(facts.st_ino),
        facts.st_size,
        facts.st_mode,
        facts.st_mtim.tv_sec,
        facts.st_mtim.tv_nsec,  // Can be set back;
        facts.st_ctim.tv_sec,
        facts.st_ctim.tv_nsec,  // these cannot.
    };
  }
  if (failed) return fail(machine_error(folder, failed));
  return stamp;
}

std::string FolderStamp::change_to(const FolderStamp& later) const {
  for (const auto& [path, facts] : later.files_)
    if (!files_.contains(path)) return path;
  return change_to(later, [](std::string_view) { return true; });
}

std::string FolderStamp::change_to(const FolderStamp& later,
                                   const std::function<bool(std::string_view)>& wanted) const {
  for (const auto& [path, facts] : files_) {
    if (!wanted(path)) continue;
    const auto found = later.files_.find(path);
    if (found == later.files_.end() || found->second != facts) return path;
  }
  return {};
}

Result<Slots> Slots::open(const fs::path& cache, const fs::path& case_folder) {
  constexpr size_t kDigits = 16;
  ASSAY_TRY(make_directories(cache.string()));
  std::error_code failed;
  const fs::path real = fs::canonical(cache, failed);
  if (failed) return fail(machine_error(cache, failed));
  const fs::path root = real / "lab" / sha256_hex(case_folder.string()).substr(0, kDigits);
  ASSAY_TRY(make_directories(root.string()));
  // Whoever worked below it may have taken the rights to it away.
  constexpr auto kOwner = fs::perms::owner_all;
  fs::permissions(root, kOwner, fs::perm_options::add | fs::perm_options::nofollow, failed);
  if (fs::canonical(root, failed) != root)
    return fail(ErrorCode::machine, "{}: a link leads elsewhere; remove it", root.string());
  ASSAY_TRY(write_file_atomic((root / kOwn).string(), case_folder.string() + '\n'));
  return Slots(root);
}

std::string Slots::mark_of(size_t which) const {
  return read_file(marker(which).string(), 4096).value_or("");
}

// Only what this made, by its real path, without following a link.
Status Slots::clear(size_t which) const {
  std::error_code failed;
  if (!fs::is_regular_file(root_ / kOwn, failed))
    return fail(ErrorCode::machine, "{}: not a folder that assay made; nothing was removed",
                root_.string());
  fs::remove(marker(which), failed);
  if (failed) return fail(machine_error(marker(which), failed));
  return remove_tree(folder(which));
}

Result<Slots::Slot> Slots::prepare(const TreeStore& store, const Tree& tree,
                                   const std::map<std::string, std::string>& variables) {
  const std::string mark = mark_for(tree, variables);
  const std::string built = mark + " built";
  size_t which = taken_[0] ? 1 : 0;
  for (size_t i = 0; i < taken_.size(); ++i)
    if (!taken_[i] && mark_of(i) == built) which = i;
  Slot slot{folder(which), mark_of(which) == built};
  if (slot.built) {
    // Somebody may have changed a file there since.
    const auto now = read_tree(slot.folder);
    slot.built = now && differences(tree, *now).empty();
  }
  if (!slot.built) {
    ASSAY_TRY(clear(which));
    ASSAY_TRY(store.write(tree, slot.folder));
    ASSAY_TRY(write_file_atomic(marker(which).string(), mark));
  }
  taken_[which] = true;
  return slot;
}

Status Slots::mark_built(const Slot& slot) {
  for (size_t i = 0; i < taken_.size(); ++i)
    if (slot.folder == folder(i)) {
      const std::string mark = mark_of(i);
      if (!mark.ends_with(" built")) return write_file_atomic(marker(i).string(), mark + " built");
    }
  return {};
}

Status Slots::discard(const fs::path& slot_folder) {
  for (size_t i = 0; i < taken_.size(); ++i)
    if (slot_folder == folder(i)) ASSAY_TRY(clear(i));
  return {};
}

Status Slots::swap() {
  // Atomic, both: a crash leaves them one way or the other; the marks follow, and disagree with
  // what is there until they have, which prepare() sees.
  const std::string first = mark_of(0), second = mark_of(1);
  if (::renameat2(AT_FDCWD, folder(0).c_str(), AT_FDCWD, folder(1).c_str(), RENAME_EXCHANGE) != 0)
    return fail(ErrorCode::machine, "{}: cannot be exchanged: {}", folder(0).string(),
                errno_text(errno));
  ASSAY_TRY(write_file_atomic(marker(0).string(), second));
  return write_file_atomic(marker(1).string(), first);
}

}  // namespace assay::lab
