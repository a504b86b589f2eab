#include "assay/base/file_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "assay/base/text.h"

namespace assay::file_parts {
namespace {

// Whose fault an errno is: the user's path, or the machine.
ErrorCode code_for(int error_number) {
  switch (error_number) {
    case ENOENT:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case EEXIST:
    case ENXIO:
    case EINVAL:
      return ErrorCode::invalid_input;
    default:
      return ErrorCode::machine;
  }
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

}  // namespace

std::string shown(const std::string& path) { return sanitize(path, 1000); }

tl::unexpected<Error> system_error(std::string_view doing, const std::string& path, int number) {
  if (number == ENOSPC || number == EDQUOT) {
    return fail(ErrorCode::machine, "disk full: cannot {} '{}'", doing, shown(path));
  }
  return fail(code_for(number), "cannot {} '{}': {}", doing, shown(path), errno_text(number));
}

Status check_path(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::invalid_input, "a file's path is empty");
  if (path.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_input, "the path '{}' has a NUL in it", shown(path));
  }
  return {};
}

Status check_regular(const struct stat& facts, const std::string& path) {
  if (S_ISREG(facts.st_mode)) return {};
  return fail(ErrorCode::invalid_input, "'{}' is {}, but must be a regular file", shown(path),
              kind_of(facts.st_mode));
}

Result<UniqueFd> open_regular(const std::string& path, int flags, std::string_view doing,
                              mode_t mode) {
  ASSAY_TRY(check_path(path));
  UniqueFd fd;
  do {
    fd.reset(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));
  } while (!fd && errno == EINTR);
  if (!fd) {
    const int number = errno;
    struct stat facts {};  // "is a FIFO" tells more than "No such device or address".
    if (stat(path.c_str(), &facts) == 0) ASSAY_TRY(check_regular(facts, path));
    return system_error(doing, path, number);
  }
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) return system_error(doing, path, errno);
  ASSAY_TRY(check_regular(facts, path));
  return fd;
}

Status append_whole(int fd, const std::string& path, std::string_view lines) {
  struct stat before {};
  if (fstat(fd, &before) != 0) return system_error("measure", path, errno);
  if (auto written = write_all(fd, lines); !written) {
    // Best effort: if this fails as well, the reader of the file cuts the torn line off.
    (void)!ftruncate(fd, before.st_size);
    return fail(with_context(written.error(), fmt::format("writing '{}'", shown(path))));
  }
  return {};
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status sync_folder(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    // A folder that may be written but not read cannot be synced; the file itself has been.
    if (errno == EACCES) return {};
    return system_error("open", folder, errno);
  }
  // Some file systems cannot sync a folder and say EINVAL.
  if (fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return system_error("sync", folder, errno);
  }
  return {};
}

}  // namespace assay::file_parts
