#include "assay/base/lock_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/text.h"

namespace assay {
namespace {

std::string own_command_line() {
  std::string command = read_file("/proc/self/cmdline", 1 << 20).value_or("");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

void leave_name(int fd, std::string_view command) {
  const std::string text =
      fmt::format("process {} ({}), since {}\n", getpid(),
                  sanitize(command.empty() ? own_command_line() : std::string(command), 200),
                  utc_now_iso8601());
  // Courtesy only: the lock holds without it, on a full disk too.
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

Result<UniqueFd> open_lock_file(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_input, "'{}' is not a lock's path", sanitize(path, 1000));
  }
  // No link is followed: the file may lie in a folder that everybody writes.
  constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  // Made only where it is absent: in such a folder systems refuse O_CREAT on the files of others.
  UniqueFd fd(::open(path.c_str(), O_RDWR | kFlags));
  if (!fd && errno == ENOENT) fd.reset(::open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666));
  // Somebody else's lock file: reading is enough to lock it, though we cannot leave our name.
  if (!fd && errno == EACCES) fd.reset(::open(path.c_str(), O_RDONLY | kFlags));
  struct stat facts {};
  if (!fd || fstat(fd.get(), &facts) != 0) {
    return fail(errno == ENOSPC ? ErrorCode::machine : ErrorCode::invalid_input,
                "cannot open the lock '{}': {}", sanitize(path, 1000), errno_text(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::invalid_input, "the lock '{}' is not a regular file",
                sanitize(path, 1000));
  }
  // Our name is written into it, and must not go into a file that has another name, too.
  if (facts.st_nlink > 1) {
    return fail(ErrorCode::invalid_input,
                "the lock '{}' is a second name of another file; remove it", sanitize(path, 1000));
  }
  return fd;
}

bool is_current_lock_file(int fd, const std::string& path) {
  struct stat locked {};
  struct stat named {};
  return fstat(fd, &locked) == 0 && stat(path.c_str(), &named) == 0 &&
         locked.st_ino == named.st_ino && locked.st_dev == named.st_dev;
}

std::string holder_of_lock(int fd) {
  char text[512];
  const ssize_t size = pread(fd, text, sizeof text, 0);
  if (size <= 0) return "another process";
  return sanitize(trim({text, static_cast<std::size_t>(size)}), 300);
}

Result<UniqueFd> try_lock_file(const std::string& path, std::string_view command) {
  while (true) {
    ASSAY_TRY(UniqueFd fd, open_lock_file(path));
    if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      if (!is_current_lock_file(fd.get(), path)) continue;
      leave_name(fd.get(), command);
      return fd;
    }
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) {
      return fail(ErrorCode::busy, "'{}' is held by {}", sanitize(path, 1000),
                  holder_of_lock(fd.get()));
    }
    return fail(ErrorCode::machine, "cannot lock '{}': {}", sanitize(path, 1000),
                errno_text(errno));
  }
}

void unlock_file(UniqueFd& fd) {
  if (!fd) return;
  (void)!ftruncate(fd.get(), 0);
  // Unlocked by name, since a child between fork and exec still shares the open file.
  flock(fd.get(), LOCK_UN);
  fd.reset();
}

}  // namespace assay
