#include "assay/device/device_lock.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/fd.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::array<const char*, 2> kSharedFolders = {"/run/lock", "/tmp"};

// Whether every user may make files here that only their owners can remove. Asked of the folder
// and not of this user, so that all users choose the same one.
bool is_for_everybody(const char* folder) {
  struct stat facts {};
  return ::lstat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == 0 &&
         (facts.st_mode & S_IWOTH) != 0 && (facts.st_mode & S_ISVTX) != 0;
}

// The lock file, writable for all so that each holder can leave its name, whatever the umask.
// False with errno if it cannot be made.
bool make_shared_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd) return errno == EEXIST;
  return ::fchmod(fd.get(), 0666) == 0;
}

// A folder that was asked for. One that we make is for all users, like those that systems have.
Status make_shared_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const bool present = std::filesystem::exists(folder, error);
  if (Status made = make_directories(folder.string()); !made)
    return fail(ErrorCode::machine, "the folder for locks: {}", made.error().message);
  if (!present) ::chmod(folder.c_str(), 01777);
  return {};
}

// Why a lock file cannot be opened, and what to do: an error alone names no one to ask.
Error explain(const std::string& path, const Error& error) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 || facts.st_uid == ::geteuid())
    return Error{ErrorCode::machine, error.message};
  return Error{ErrorCode::machine,
               fmt::format("{}; it belongs to user {}: ask for its removal, or agree on another "
                           "folder by ASSAY_LOCK_DIR or --lock-dir",
                           error.message, facts.st_uid)};
}

bool is_readable_now(int fd) {
  pollfd watched{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&watched, 1, 0) > 0;
}

std::string what(std::string_view device) {
  return device == "cpu" ? std::string("this machine's cores") : std::string(device);
}

}  // namespace

Result<DeviceLockPlace> find_device_lock(std::string_view device,
                                         const DeviceLockOptions& options) {
  if (!matches_name_rule(device))
    return fail(ErrorCode::invalid_input, "'{}' is not a device's id", sanitize(device, 100));
  const std::string name = fmt::format("assay-{}.lock", device);
  if (!options.folder.empty()) {
    ASSAY_TRY(make_shared_folder(options.folder));
    return DeviceLockPlace{options.folder / name, true, ""};
  }
  std::string why;
  for (const char* folder : kSharedFolders) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (is_for_everybody(folder) && make_shared_file(file.string()))
      return DeviceLockPlace{file, true, ""};
    why += fmt::format(
        "{}{} {}", why.empty() ? "" : ", ", folder,
        is_for_everybody(folder) ? errno_text(errno) : "is no folder that every user may write");
  }
  if (options.fallback.empty())
    return fail(ErrorCode::machine, "there is no folder for the lock of {}: {}", what(device), why);
  if (Status made = make_directories(options.fallback.string()); !made)
    return fail(ErrorCode::machine, "the folder for locks: {}", made.error().message);
  return DeviceLockPlace{options.fallback / name, false, std::move(why)};
}

Result<DeviceLock> DeviceLock::hold(std::string_view device, const DeviceLockOptions& options,
                                    const std::function<void(std::string_view)>& say) {
  ASSAY_TRY(DeviceLockPlace place, find_device_lock(device, options));
  const std::string path = place.file.string();
  (void)make_shared_file(path);  // Where that fails, locking it says why.
  if (!options.wait) {
    auto lock = FileLock::try_lock(path);
    if (!lock && lock.error().code == ErrorCode::busy)
      return fail(ErrorCode::busy, "somebody else measures on {}: {}; it is free when that ends",
                  what(device), lock.error().message);
    if (!lock) return fail(explain(path, lock.error()));
    return DeviceLock(std::move(*lock), std::move(place));
  }
  std::string said;
  bool stopped = false;
  FileLock::Wait wait;
  wait.keep_waiting = [&](std::string_view held) {
    stopped = is_readable_now(options.cancel_fd);
    if (!stopped && held != said) {
      said = held;
      say(
          fmt::format("waiting, since two measurements on {} would disturb each other: {}. It goes "
                      "on by itself when that ends; Ctrl-C gives up, --no-wait would not wait",
                      what(device), held));
    }
    return !stopped;
  };
  auto lock = FileLock::lock(path, wait);
  if (stopped)
    return fail(ErrorCode::interrupted, "stopped while it waited for {}; nothing was begun",
                what(device));
  if (!lock) return fail(explain(path, lock.error()));
  return DeviceLock(std::move(*lock), std::move(place));
}

}  // namespace assay
