#include <algorithm>
#include <ctime>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/lock_file.h"

namespace assay {
namespace {

constexpr std::int64_t kRetryNs = 50 * kNsPerMs;

}  // namespace

Result<FileLock> FileLock::try_lock(const std::string& path, std::string_view command) {
  ASSAY_TRY(UniqueFd fd, try_lock_file(path, command));
  return FileLock(std::move(fd));
}

Result<FileLock> FileLock::lock(const std::string& path, const Wait& wait,
                                std::string_view command) {
  while (true) {
    auto lock = try_lock(path, command);
    if (lock || lock.error().code != ErrorCode::busy) return lock;
    if (wait.keep_waiting && !wait.keep_waiting(lock.error().message)) {
      return fail(ErrorCode::interrupted, "gave up waiting: {}", lock.error().message);
    }
    std::int64_t pause = kRetryNs;
    if (wait.deadline_ns) {
      pause = std::min(pause, *wait.deadline_ns - monotonic_ns());
      if (pause <= 0) return lock;
    }
    const timespec time{0, static_cast<long>(pause)};
    nanosleep(&time, nullptr);
  }
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    fd_ = std::move(other.fd_);
  }
  return *this;
}

void FileLock::release() { unlock_file(fd_); }

}  // namespace assay
