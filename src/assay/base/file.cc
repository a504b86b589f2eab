#include "assay/base/file.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <new>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "assay/base/hash.h"
#include "assay/base/random.h"
#include "assay/base/text.h"

namespace assay {
namespace {

std::string shown(const std::string& path) { return sanitize(path, 1000); }

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

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "not a regular file";
}

Status check_regular(const struct stat& facts, const std::string& path) {
  if (S_ISREG(facts.st_mode)) return {};
  return fail(ErrorCode::invalid_input, "'{}' is {}, but must be a regular file", shown(path),
              kind_of(facts.st_mode));
}

// Opens without waiting for the other end of a FIFO, then checks what it was.
Result<UniqueFd> open_regular(const std::string& path, int flags, std::string_view doing,
                              mode_t mode = 0666) {
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

// A link is written through, not replaced.
std::string final_target(const std::string& path) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) return path;
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  return real ? real.get() : path;
}

Status write_temporary(const std::string& temporary, const std::string& path, mode_t mode,
                       bool keep_mode, std::string_view text) {
  UniqueFd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd) return system_error("write", path, errno);
  if (keep_mode && fchmod(fd.get(), mode) != 0) return system_error("write", path, errno);
  if (auto written = write_all(fd.get(), text); !written) {
    return fail(with_context(written.error(), fmt::format("writing '{}'", shown(path))));
  }
  if (fsync(fd.get()) != 0) return system_error("sync", path, errno);
  if (::close(fd.release()) != 0) return system_error("close", path, errno);
  if (rename(temporary.c_str(), path.c_str()) != 0) return system_error("replace", path, errno);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  ASSAY_TRY(const UniqueFd fd, open_regular(path, O_RDONLY, "read"));
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) return system_error("read", path, errno);
  const auto too_big = [&] {
    return fail(ErrorCode::invalid_input, "'{}' is larger than {}, the most that is read",
                shown(path), format_bytes(static_cast<double>(max_bytes)));
  };
  const auto announced = static_cast<std::size_t>(facts.st_size);
  if (announced > max_bytes) return too_big();
  try {
    // The announced size is a hint: files in /proc say 0, and others may grow meanwhile.
    std::string text;
    std::size_t got = 0;
    while (true) {
      if (got == text.size()) text.resize(std::max({announced + 1, 2 * got, std::size_t{4096}}));
      const ssize_t n = ::read(fd.get(), text.data() + got, text.size() - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_error("read", path, errno);
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
      if (got > max_bytes) return too_big();
    }
    text.resize(got);
    return text;
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::machine, "not enough memory to read '{}'", shown(path));
  }
}

Status write_file_atomic(const std::string& path, std::string_view text) {
  ASSAY_TRY(check_path(path));
  const std::string target = final_target(path);
  struct stat facts {};
  const bool exists = stat(target.c_str(), &facts) == 0;
  if (exists) ASSAY_TRY(check_regular(facts, path));
  if (exists && access(target.c_str(), W_OK) != 0) return system_error("write", path, errno);
  ASSAY_TRY(const SecretSeed noise, secret_seed());
  const std::string folder = folder_of(target);
  const std::string temporary = fmt::format("{}/.assay-{}.tmp", folder,
                                            to_hex(std::span<const std::uint8_t>(noise).first(8)));
  const mode_t mode = exists ? facts.st_mode & 07777 : 0666;
  if (auto written = write_temporary(temporary, target, mode, exists, text); !written) {
    unlink(temporary.c_str());
    return written;
  }
  return sync_folder(folder);
}

Result<AppendFile> AppendFile::open(const std::string& path, bool fsync_each) {
  AppendFile file;
  ASSAY_TRY(file.fd_, open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open"));
  file.path_ = path;
  file.fsync_each_ = fsync_each;
  if (fsync_each) ASSAY_TRY(sync_folder(folder_of(path)));  // The name must survive a crash too.
  return file;
}

Result<std::uint64_t> AppendFile::size() const {
  struct stat facts {};
  if (fstat(fd_.get(), &facts) != 0) return system_error("measure", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

Status AppendFile::append_line(std::string_view line) {
  if (line.find('\n') != std::string_view::npos) {
    return fail(ErrorCode::internal, "a line for '{}' has a newline in it", shown(path_));
  }
  ASSAY_TRY(const std::uint64_t before, size());
  std::string text(line);
  text += '\n';
  if (auto written = write_all(fd_.get(), text); !written) {
    // Best effort: if this fails as well, the reader of the file cuts the torn line off.
    (void)truncate(before);
    return fail(with_context(written.error(), fmt::format("writing '{}'", shown(path_))));
  }
  return fsync_each_ ? sync() : Status();
}

Status AppendFile::sync() {
  if (fdatasync(fd_.get()) != 0) return system_error("sync", path_, errno);
  return {};
}

Status AppendFile::truncate(std::uint64_t bytes) {
  if (ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    return system_error("truncate", path_, errno);
  }
  return {};
}

Status make_directories(const std::string& path) {
  ASSAY_TRY(check_path(path));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return system_error("create folder", path, error.value());
  if (!std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::invalid_input, "'{}' is there, but is not a folder", shown(path));
  }
  return {};
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& parent,
                                                      const std::string& prefix) {
  ASSAY_TRY(check_path(parent));
  if (!prefix.empty() && !matches_name_rule(prefix)) {
    return fail(ErrorCode::invalid_input, "'{}' cannot start a folder's name", shown(prefix));
  }
  std::string path = fmt::format("{}/{}XXXXXX", parent, prefix);
  if (mkdtemp(path.data()) == nullptr) {
    return system_error("create a temporary folder in", parent, errno);
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

std::string TemporaryDirectory::release() { return std::exchange(path_, {}); }

}  // namespace assay
