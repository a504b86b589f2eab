#include "assay/base/forked.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <new>
#include <poll.h>
#include <span>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/fd.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

// What children share with their parent: who takes which index, and what came of it.
class Board {
 public:
  explicit Board(size_t count) : bytes_(sizeof(std::atomic<size_t>) + count * sizeof(double)) {
    static_assert(std::atomic<size_t>::is_always_lock_free);
    void* const mapped =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return;
    next_ = new (mapped) std::atomic<size_t>(0);
    values_ = {reinterpret_cast<double*>(next_ + 1), count};
    std::ranges::fill(values_, std::numeric_limits<double>::quiet_NaN());
  }
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board() {
    if (next_ != nullptr) ::munmap(next_, bytes_);
  }

  bool is_mapped() const { return next_ != nullptr; }
  std::span<double> values() const { return values_; }

  size_t left() const { return values_.size() - std::min(values_.size(), next_->load()); }
  void work(const std::function<double(size_t)>& use) const {
    for (size_t i; (i = next_->fetch_add(1)) < values_.size();) values_[i] = use(i);
  }

 private:
  size_t bytes_;
  std::atomic<size_t>* next_ = nullptr;
  std::span<double> values_;
};

bool is_readable(int fd) {
  if (fd < 0) return false;
  const auto ready = wait_for_fd(fd, POLLIN, monotonic_ns());
  return ready && *ready;
}

// Those that do not end by themselves once they are told to are made to.
void wait_for(std::vector<pid_t> children, int cancel_fd) {
  constexpr std::int64_t kLookNs = 50 * kNsPerMs, kGraceNs = 5 * kNsPerSecond;
  std::optional<std::int64_t> deadline;
  while (!children.empty()) {
    if (cancel_fd < 0) {
      while (::waitpid(children.back(), nullptr, 0) < 0 && errno == EINTR) {
      }
      children.pop_back();
      continue;
    }
    std::erase_if(children,
                  [](pid_t child) { return ::waitpid(child, nullptr, WNOHANG) == child; });
    if (children.empty()) return;
    const std::int64_t now = monotonic_ns();
    const auto tell = [&](int signal) {
      for (const pid_t child : children) ::kill(child, signal);
    };
    if (!deadline && is_readable(cancel_fd)) {
      tell(SIGTERM);
      deadline = now + kGraceNs;
    }
    if (deadline && now > *deadline) tell(SIGKILL);
    if (deadline)
      ::usleep(kLookNs / 1000);  // The descriptor stays readable.
    else
      (void)wait_for_fd(cancel_fd, POLLIN, now + kLookNs);
  }
}

// Whether there was a child at all.
bool work_in_children(const Board& board, size_t how_many, const std::function<double(size_t)>& use,
                      int cancel_fd) {
  std::vector<pid_t> children;
  const pid_t parent = ::getpid();
  while (children.size() < how_many) {
    const pid_t child = ::fork();
    if (child < 0) break;
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent) board.work(use);
      ::_exit(0);  // Nothing of the parent's is flushed or freed twice.
    }
    children.push_back(child);
  }
  const bool any = !children.empty();
  wait_for(std::move(children), cancel_fd);
  return any;
}

// A child's whole life: no descriptor of ours but the answer's, and no stream.
[[noreturn]] void answer(const std::function<std::string()>& use, int into) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
  const int kept = ::dup2(into, 3);
  ::close_range(4, ~0U, 0);
  if (kept == 3) (void)write_all(3, use());
  ::_exit(0);
}

// Ends it, and what it started in its group.
ExitStatus end(pid_t child) {
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {ExitStatus::Kind::signaled, 0, WTERMSIG(status)};
  return {ExitStatus::Kind::exited, WEXITSTATUS(status), 0};
}

}  // namespace

std::vector<double> for_each_forked(size_t count, const std::function<double(size_t i)>& use,
                                    int cancel_fd) {
  std::vector<double> values;
  if (count == 0) return values;
  values.push_back(use(0));
  if (count == 1) return values;
  const Board board(count - 1);
  const auto other = [&](size_t i) { return use(i + 1); };
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  // More than once only where children died: each has taken an index.
  while (board.is_mapped() && board.left() > 0 && !is_readable(cancel_fd))
    if (!work_in_children(board, std::min(cores, board.left()), other, cancel_fd)) break;
  if (!board.is_mapped() || (board.left() > 0 && !is_readable(cancel_fd))) {
    for (size_t i = 1; i < count; ++i) values.push_back(use(i));
    return values;
  }
  values.insert(values.end(), board.values().begin(), board.values().end());
  return values;
}

Result<std::string> ask_forked(const std::function<std::string()>& use, const AskLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorCode::machine, "cannot make a pipe: {}", errno_text(errno));
  UniqueFd from(ends[0]), into(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::machine, "cannot fork: {}", errno_text(errno));
  if (child == 0) answer(use, into.get());
  ::setpgid(child, child);  // Whoever of the two is first.
  into.reset();
  std::optional<std::int64_t> deadline;
  if (limits.timeout_ns) deadline = monotonic_ns() + *limits.timeout_ns;
  std::string text;
  for (;;) {
    std::array<pollfd, 2> entries = {{{from.get(), POLLIN, 0}, {limits.cancel_fd, POLLIN, 0}}};
    const std::int64_t left = deadline ? *deadline - monotonic_ns() : 3600 * kNsPerSecond;
    if (left <= 0) {
      end(child);
      return fail(ErrorCode::failed, "did not end within {:g} s",
                  static_cast<double>(*limits.timeout_ns) * 1e-9);
    }
    const timespec pause{left / kNsPerSecond, left % kNsPerSecond};
    if (::ppoll(entries.data(), entries.size(), &pause, nullptr) < 0 && errno != EINTR) {
      end(child);
      return fail(ErrorCode::machine, "cannot wait for a process: {}", errno_text(errno));
    }
    if (entries[1].revents != 0) {
      end(child);
      return fail(ErrorCode::interrupted, "stopped");
    }
    if (entries[0].revents == 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(from.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (text.size() > limits.most_bytes) {
      end(child);
      return fail(ErrorCode::failed, "answered with more than {} bytes", limits.most_bytes);
    }
  }
  // Its end of the pipe closes as it ends: SIGKILL finds it gone, unless it closed the pipe itself.
  const ExitStatus status = end(child);
  if (!text.empty()) return text;
  return fail(ErrorCode::failed, "{}", status.describe());
}

}  // namespace assay
