#include "assay/device/device_lock.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/lock_file.h"
#include "assay/base/queue_ticket.h"
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

// Until the next look, or until the user wants to stop: true then.
bool stops_within_pause(int cancel_fd) {
  constexpr int kPauseMs = 100;
  pollfd watched{cancel_fd, POLLIN, 0};
  return ::poll(&watched, cancel_fd >= 0 ? 1 : 0, kPauseMs) > 0;
}

std::string what(std::string_view device) {
  return device == "cpu" ? std::string("this machine's cores") : std::string(device);
}

bool is_same_file(int fd, const std::string& path) {
  struct stat open {};
  return ::fstat(fd, &open) == 0 && S_ISREG(open.st_mode) && is_current_lock_file(fd, path);
}

// The parent's lock, if that is what was handed down; nothing if it is that of another device.
Result<UniqueFd> take_handed_down(int fd, const std::string& path) {
  UniqueFd own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own)
    return fail(ErrorCode::invalid_input,
                "ASSAY_LOCK_FD: descriptor {} is not open; unset it, or start this command by the "
                "one that holds the lock",
                fd);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // Candidates must not get it.
  if (!is_same_file(own.get(), path)) return UniqueFd();
  // Through another open file the lock is refused exactly if somebody holds it, and through this
  // one it is granted exactly if that is the one by which it is held.
  ASSAY_TRY(const UniqueFd other, open_lock_file(path));
  if (::flock(other.get(), LOCK_SH | LOCK_NB) == 0 || ::flock(own.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::invalid_input,
                "ASSAY_LOCK_FD: nobody holds the lock '{}' by descriptor {}; unset it, or start "
                "this command by the one that holds the lock",
                sanitize(path, 300), fd);
  return own;
}

std::string place_in_line(const DeviceWait& wait) {
  return wait.ahead == 1 ? fmt::format("next in line behind {}", wait.holder)
                         : fmt::format("{} commands ahead, now {}", wait.ahead, wait.holder);
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

std::string waiting_sentence(const DeviceWait& wait) {
  return fmt::format(
      "waiting for {}, {}. Two measurements would disturb each other; Ctrl-C gives up, --no-wait "
      "would not wait",
      what(wait.device), place_in_line(wait));
}

std::string waited_sentence(const DeviceWait& wait) {
  return fmt::format("waited {} for {}; going on", format_duration(wait.seconds),
                     what(wait.device));
}

DeviceWaitObserver in_two_lines(std::function<void(std::string_view)> say) {
  return [say = std::move(say), begun = false](const DeviceWait& wait) mutable {
    if (wait.over)
      say(waited_sentence(wait));
    else if (!begun)
      say(waiting_sentence(wait));
    begun = true;
  };
}

Result<DeviceLock> DeviceLock::hold(std::string_view device, const DeviceLockOptions& options,
                                    const DeviceWaitObserver& observer) {
  ASSAY_TRY(DeviceLockPlace place, find_device_lock(device, options));
  const std::string path = place.file.string();
  (void)make_shared_file(path);  // Where that fails, locking it says why.
  if (options.handed_down_fd >= 0) {
    ASSAY_TRY(UniqueFd given, take_handed_down(options.handed_down_fd, path));
    if (given) return DeviceLock(std::move(given), std::move(place), false);
  }
  auto ticket = QueueTicket::take(path);
  DeviceWait wait;
  wait.device = device;
  const int64_t start = monotonic_ns();
  while (true) {
    if (!ticket) return fail(explain(path, ticket.error()));
    const int before = ticket->ahead();
    wait.holder = holder_of_lock(ticket->descriptor());
    if (before == 0) {
      auto fd = try_lock_file(path);
      if (!fd && fd.error().code != ErrorCode::busy) return fail(explain(path, fd.error()));
      wait.over = fd.has_value();
      wait.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
      if (fd && wait.ahead > 0) observer(wait);
      if (fd) return DeviceLock(std::move(*fd), std::move(place), true);
    }
    if (!options.wait)
      return fail(ErrorCode::busy,
                  "{} is measuring on {}; try again when it ends, or leave "
                  "--no-wait out to queue for it",
                  wait.holder, what(device));
    wait.ahead = before + 1;
    wait.seconds = static_cast<double>(monotonic_ns() - start) * 1e-9;
    observer(wait);
    if (stops_within_pause(options.cancel_fd))
      return fail(ErrorCode::interrupted, "stopped while it waited for {}; nothing was begun",
                  what(device));
    // Somebody removed the file: those who came since queue at another.
    if (!is_current_lock_file(ticket->descriptor(), path)) ticket = QueueTicket::take(path);
  }
}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  fd_ = std::move(other.fd_);
  place_ = std::move(other.place_);
  ours_ = other.ours_;
  return *this;
}

void DeviceLock::release() {
  if (ours_) unlock_file(fd_);
}

}  // namespace assay
