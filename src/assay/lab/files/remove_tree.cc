#include "assay/lab/files/remove_tree.h"

#include <cstring>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/text.h"

namespace assay::lab {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kAllOfOwner = S_IRWXU;

Result<std::vector<std::string>> names_in(int folder) {
  // A descriptor of its own: closedir() closes what it was given.
  DIR* entries = ::fdopendir(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr)
    return fail(ErrorCode::machine, "cannot read a folder: {}", errno_text(errno));
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  ::closedir(entries);
  return names;
}

// EXDEV: what somebody mounted there is not ours, also if it lies on the same disk.
UniqueFd open_here(int parent, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV;
  UniqueFd folder(static_cast<int>(::syscall(SYS_openat2, parent, name.c_str(), &how, sizeof how)));
  // Before Linux 5.6 there is no such call, and some containers refuse it.
  if (folder || (errno != ENOSYS && errno != EPERM)) return folder;
  folder.reset(::openat(parent, name.c_str(), static_cast<int>(how.flags)));
  struct stat above {};
  struct stat here {};
  if (folder && ::fstat(parent, &above) == 0 && ::fstat(folder.get(), &here) == 0 &&
      above.st_dev != here.st_dev) {
    folder.reset();
    errno = EXDEV;
  }
  return folder;
}

Error is_mount(const std::string& name) {
  return {ErrorCode::machine,
          fmt::format("'{}' is a mount, and nothing behind it is removed: unmount it",
                      sanitize(name, 200))};
}

// Folders within folders are moved to the top one by one: neither a path nor the count of open
// descriptors grows with their depth.
class Remover {
 public:
  explicit Remover(UniqueFd top) : top_(std::move(top)) {}

  Status run() {
    for (;;) {
      ASSAY_TRY(const auto names, names_in(top_.get()));
      if (names.empty()) return {};
      for (const std::string& name : names) {
        ASSAY_TRY(const UniqueFd folder, open_folder(top_.get(), name));
        if (!folder) {
          ASSAY_TRY(unlink(top_.get(), name, 0));
          continue;
        }
        ASSAY_TRY(empty(folder.get()));
        ASSAY_TRY(unlink(top_.get(), name, AT_REMOVEDIR));
      }
    }
  }

 private:
  static Status unlink(int folder, const std::string& name, int flags) {
    if (::unlinkat(folder, name.c_str(), flags) == 0 || errno == ENOENT) return {};
    return fail(ErrorCode::machine, "cannot remove '{}': {}", sanitize(name, 200),
                errno_text(errno));
  }

  // Closed: it is none.
  static Result<UniqueFd> open_folder(int parent, const std::string& name) {
    struct stat facts {};
    if (::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISDIR(facts.st_mode))
      return UniqueFd();
    UniqueFd folder = open_here(parent, name);
    if (!folder && errno == EACCES) {
      ::fchmodat(parent, name.c_str(), kAllOfOwner, 0);
      folder = open_here(parent, name);
    } else if (folder) {
      ::fchmod(folder.get(), kAllOfOwner);
    }
    if (folder) return folder;
    if (errno == EXDEV) return fail(is_mount(name));
    return fail(ErrorCode::machine, "cannot open '{}': {}", sanitize(name, 200), errno_text(errno));
  }

  Status empty(int folder) {
    ASSAY_TRY(const auto names, names_in(folder));
    for (const std::string& name : names) {
      ASSAY_TRY(const UniqueFd inner, open_folder(folder, name));
      if (!inner) {
        ASSAY_TRY(unlink(folder, name, 0));
        continue;
      }
      ASSAY_TRY(move_to_top(folder, name));
    }
    return {};
  }

  Status move_to_top(int folder, const std::string& name) {
    for (;;) {
      const std::string moved = fmt::format("moved-{}", ++moved_);
      if (::renameat2(folder, name.c_str(), top_.get(), moved.c_str(), RENAME_NOREPLACE) == 0)
        return {};
      if (errno != EEXIST)
        return fail(ErrorCode::machine, "cannot move '{}': {}", sanitize(name, 200),
                    errno_text(errno));
    }
  }

  UniqueFd top_;
  long moved_ = 0;
};

}  // namespace

Status remove_tree(const fs::path& path) {
  const auto failed = [&](int number) {
    return fail(ErrorCode::machine, "{}: {}", sanitize(path.string(), 500), errno_text(number));
  };
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return errno == ENOENT ? Status() : failed(errno);
  if (!S_ISDIR(facts.st_mode)) return ::unlink(path.c_str()) == 0 ? Status() : failed(errno);
  ::chmod(path.c_str(), kAllOfOwner);
  const UniqueFd parent(
      ::open((path.parent_path() / ".").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return failed(errno);
  UniqueFd top = open_here(parent.get(), path.filename());
  if (!top && errno == EXDEV) return fail(is_mount(path.string()));
  if (!top) return failed(errno);
  if (const Status emptied = Remover(std::move(top)).run(); !emptied)
    return fail(emptied.error().code, "{}: {}", sanitize(path.string(), 500),
                emptied.error().message);
  return ::rmdir(path.c_str()) == 0 ? Status() : failed(errno);
}

void make_walkable(const fs::path& folder) {
  std::vector<fs::path> left = {folder};
  while (!left.empty()) {
    const fs::path path = std::move(left.back());
    left.pop_back();
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) continue;
    if ((facts.st_mode & kAllOfOwner) != kAllOfOwner)
      ::chmod(path.c_str(), (facts.st_mode & ALLPERMS) | kAllOfOwner);
    std::error_code failed;
    for (fs::directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      std::error_code unknown;
      if (fs::is_directory(entry->symlink_status(unknown))) left.push_back(entry->path());
    }
  }
}

}  // namespace assay::lab
