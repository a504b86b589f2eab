#include "assay/base/fd.h"

#include <algorithm>
#include <errno.h>
#include <fcntl.h>
#include <limits>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay {
namespace {

// Keeps a SIGPIPE that our own write raises from the program, without touching its handlers: the
// signal is blocked in this thread, and taken back if the write raised it.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~SigpipeGuard() {
    const int saved = errno;
    if (raised_ && !was_pending_) {
      const timespec now{};
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = saved;
  }
  void raised() { raised_ = true; }

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
  bool raised_ = false;
};

ssize_t write_quietly(int fd, std::span<const std::byte> bytes) {
  const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  SigpipeGuard guard;
  const ssize_t written = ::write(fd, bytes.data(), bytes.size());
  if (written < 0 && errno == EPIPE) guard.raised();
  return written;
}

int required_seals(Seal demanded) {
  switch (demanded) {
    case Seal::none:
      return 0;
    case Seal::fixed_size:
      return F_SEAL_SHRINK;
    case Seal::unchanging:
      return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  }
  return 0;
}

Result<UniqueFd> new_memfd(const std::string& name, std::size_t bytes) {
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return fail(ErrorCode::machine, "cannot create a memory file: {}", errno_text(errno));
  }
  if (bytes > static_cast<std::size_t>(std::numeric_limits<off_t>::max()) ||
      ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return fail(ErrorCode::machine, "cannot make a memory file of {} bytes: {}", bytes,
                errno_text(errno));
  }
  return fd;
}

constexpr int kUnchanging = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

constexpr std::int64_t kSealPatienceNs = 10 * kNsPerSecond;

// Linux refuses to seal a file against writing as long as somebody holds one of its pages: the
// kernel itself, while it compacts memory or writes back, or a child between fork and exec. It
// waits some 150 ms for the first kind and then answers EBUSY, which a loaded machine reaches.
Status add_seals(int fd, int seals) {
  const std::int64_t deadline_ns = monotonic_ns() + kSealPatienceNs;
  for (timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000}; fcntl(fd, F_ADD_SEALS, seals) != 0;
       pause.tv_nsec = std::min(2 * pause.tv_nsec, 100'000'000L)) {
    if (errno == EINTR) continue;
    if (errno != EBUSY || monotonic_ns() >= deadline_ns) {
      return fail(ErrorCode::machine, "cannot seal a memory file: {}", errno_text(errno));
    }
    nanosleep(&pause, nullptr);
  }
  return {};
}

}  // namespace

void UniqueFd::reset(int fd) {
  const int old = std::exchange(fd_, fd);
  if (old < 0 || old == fd) return;
  const int saved = errno;
  ::close(old);  // Not repeated on EINTR: on Linux the descriptor is gone by then.
  errno = saved;
}

Result<UniqueFd> UniqueFd::duplicate() const {
  UniqueFd copy(fcntl(fd_, F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    return fail(ErrorCode::machine, "cannot duplicate a descriptor: {}", errno_text(errno));
  }
  return copy;
}

std::string errno_text(int error_number) {
  char buffer[256];
  return strerror_r(error_number, buffer, sizeof buffer);  // GNU's, which returns the text.
}

Result<std::size_t> write_some(int fd, std::span<const std::byte> bytes) {
  if (bytes.empty()) return std::size_t{0};
  while (true) {
    const ssize_t written = write_quietly(fd, bytes);
    if (written >= 0) return static_cast<std::size_t>(written);
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
        return std::size_t{0};
      case EPIPE:
      case ECONNRESET:
        return fail(ErrorCode::failed, "cannot write: the reader has gone");
      case ENOSPC:
      case EDQUOT:
        return fail(ErrorCode::machine, "disk full");
      default:
        return fail(ErrorCode::machine, "cannot write: {}", errno_text(errno));
    }
  }
}

Status write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ASSAY_TRY(const std::size_t written, write_some(fd, bytes));
    if (written == 0) ASSAY_TRY(wait_for_fd(fd, POLLOUT, std::nullopt));
    bytes = bytes.subspan(written);
  }
  return {};
}

Status write_all(int fd, std::string_view text) {
  return write_all(fd, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

Result<bool> wait_for_fd(int fd, short events, std::optional<std::int64_t> deadline_ns) {
  while (true) {
    timespec left{};
    if (deadline_ns) {
      const std::int64_t ns = std::max<std::int64_t>(*deadline_ns - monotonic_ns(), 0);
      left.tv_sec = ns / kNsPerSecond;
      left.tv_nsec = ns % kNsPerSecond;
    }
    pollfd entry{fd, events, 0};
    const int ready = ppoll(&entry, 1, deadline_ns ? &left : nullptr, nullptr);
    if (ready > 0 && (entry.revents & POLLNVAL) != 0) {
      return fail(ErrorCode::internal, "descriptor {} is not open", fd);
    }
    if (ready > 0) return true;
    if (ready == 0 && monotonic_ns() >= *deadline_ns) return false;
    if (ready < 0 && errno != EINTR) {
      return fail(ErrorCode::machine, "cannot wait for a descriptor: {}", errno_text(errno));
    }
  }
}

Result<UniqueFd> create_sealed_memfd(const std::string& name, std::span<const std::byte> bytes) {
  ASSAY_TRY(UniqueFd fd, new_memfd(name, 0));
  ASSAY_TRY(write_all(fd.get(), bytes));
  ASSAY_TRY(add_seals(fd.get(), kUnchanging));
  return fd;
}

Result<UniqueFd> create_memfd(const std::string& name, std::size_t bytes) {
  ASSAY_TRY(UniqueFd fd, new_memfd(name, bytes));
  ASSAY_TRY(add_seals(fd.get(), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  return fd;
}

Result<MappedFile> MappedFile::map(int fd, Seal demanded, bool writable) {
  if (const int required = required_seals(demanded); required != 0) {
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & required) != required) {
      return fail(ErrorCode::invalid_input, "a memory file is not sealed {}",
                  demanded == Seal::fixed_size ? "at a fixed size" : "against change");
    }
  }
  struct stat facts {};
  if (fstat(fd, &facts) != 0) {
    return fail(ErrorCode::machine, "cannot map a file: {}", errno_text(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::invalid_input, "cannot map what is not a regular file");
  }
  MappedFile mapped;
  mapped.writable_ = writable;
  if (facts.st_size == 0) return mapped;
  const auto size = static_cast<std::size_t>(facts.st_size);
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED && errno == EPERM && !writable) {
    // Before Linux 6.7 a file sealed against writing could not be mapped shared, not even
    // read-only.
    data = mmap(nullptr, size, protection, MAP_PRIVATE, fd, 0);
  }
  if (data == MAP_FAILED) {
    return fail(ErrorCode::machine, "cannot map a file of {} bytes: {}", size, errno_text(errno));
  }
  mapped.data_ = static_cast<std::byte*>(data);
  mapped.size_ = size;
  return mapped;
}

Result<MappedFile> MappedFile::map_read_only(int fd, Seal demanded) {
  return map(fd, demanded, false);
}

Result<MappedFile> MappedFile::map_read_write(int fd, Seal demanded) {
  return map(fd, demanded, true);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      writable_(other.writable_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(writable_, other.writable_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

std::span<std::byte> MappedFile::writable_bytes() {
  return writable_ ? std::span<std::byte>(data_, size_) : std::span<std::byte>();
}

Result<MemoryFile> MemoryFile::create(const std::string& name, std::size_t bytes) {
  MemoryFile file;
  ASSAY_TRY(file.fd_, new_memfd(name, bytes));
  ASSAY_TRY(file.mapped_, MappedFile::map_read_write(file.fd_.get()));
  return file;
}

Status MemoryFile::seal() {
  if (!fd_) return {};
  // Not while anybody, we included, could write to it.
  mapped_ = MappedFile();
  ASSAY_TRY(add_seals(fd_.get(), kUnchanging));
  ASSAY_TRY(mapped_, MappedFile::map_read_only(fd_.get(), Seal::unchanging));
  return {};
}

}  // namespace assay
