#include "assay/process/guard.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/file.h"
#include "assay/base/message_channel.h"
#include "assay/base/own_children.h"
#include "assay/process/confine.h"
#include "assay/process/descriptors.h"
#include "assay/process/messages/guard.h"
#include "assay/process/namespaces.h"

namespace assay::sweep {
namespace {

constexpr int64_t kHandshakeNs = 60 * kNsPerSecond;
// Of those that a worker without a process namespace left behind: they could go on forking for
// ever, faster than they are found.
constexpr int64_t kSweepNs = 10 * kNsPerSecond;
// A thread that starts a process the old way (vfork) stands still only when that has begun.
constexpr int64_t kMostStopNs = 2 * kNsPerSecond;

// Open in the guard alone: its other end shows when the guard is no more.
struct Lifeline {
  UniqueFd watched, held;
  static Result<Lifeline> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return fail(ErrorCode::machine, "a guard cannot be set up: {}", errno_text(errno));
    return Lifeline{UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
  // In a child: dies with the guard from now on. False if that is dead already.
  bool hold_on() {
    held.reset();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    pollfd end{watched.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) == 0;
  }
};

void close_all_but(int kept) {
  const auto last = static_cast<unsigned>(kept);
#ifdef SYS_close_range
  if ((kept == 0 || ::syscall(SYS_close_range, 0U, last - 1, 0U) == 0) &&
      ::syscall(SYS_close_range, last + 1, ~0U, 0U) == 0)
    return;
#endif
  for (int fd = 0; fd < 1024; ++fd)
    if (fd != kept) ::close(fd);
}

// The init of the process namespace: reaps what has lost its parent, and takes everybody with it
// when the guard ends it. Nobody inside can signal it.
void be_init(Lifeline& lifeline) {
  ::signal(SIGCHLD, SIG_IGN);
  if (!lifeline.hold_on()) return;
  close_all_but(lifeline.watched.get());
  for (;;) ::pause();
}

// Files that show a process's memory and its mappings, for whoever keeps the score. The system asks
// for rights when they are opened, and not when they are read: now, while the worker is like us;
// later it hides its memory from all processes without privileges. Behind them the process itself.
// All, or none.
std::vector<UniqueFd> open_memory(int processes, pid_t worker) {
  std::vector<UniqueFd> files;
  for (const char* name : {"mem", "smaps"}) {
    UniqueFd file(
        ::openat(processes, fmt::format("{}/{}", worker, name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return {};
    files.push_back(std::move(file));
  }
  constexpr long kOpenProcess = 434;  // pidfd_open(2), Linux 5.3.
  files.emplace_back(static_cast<int>(::syscall(kOpenProcess, worker, 0)));
  if (!files.back()) return {};
  return files;
}

// While all of them can be seen.
int64_t count_threads(uid_t user) {
  int64_t threads = 0;
  DIR* processes = ::opendir("/proc");
  if (processes == nullptr) return threads;
  while (const dirent* entry = ::readdir(processes)) {
    const auto pid = static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10));
    const auto text = pid > 0 ? read_file(fmt::format("/proc/{}/status", pid), 1 << 16)
                              : fail(ErrorCode::not_found, "no process");
    if (!text) continue;
    const auto number_of = [&](std::string_view field) {
      const size_t at = text->find(field);
      return at == std::string::npos ? -1
                                     : std::strtoll(text->c_str() + at + field.size(), nullptr, 10);
    };
    if (number_of("\nUid:\t") == user) threads += number_of("\nThreads:\t");
  }
  ::closedir(processes);
  return threads;
}

class Guard {
 public:
  Guard(MessageChannel channel, bool wants_namespaces)
      : channel_(std::move(channel)), wants_namespaces_(wants_namespaces) {}

  // An error is the guard's alone, and told.
  Result<Surroundings> stand() {
    auto place = begin();
    process::GuardStands stands;
    if (!place) stands.error = place.error().message;
    if (!place) (void)tell(stands);
    return place;
  }

 private:
  Result<Surroundings> begin() {
    Surroundings place;
    place.guard = ::getpid();
    ASSAY_TRY(lifeline_, Lifeline::make());
    if (::geteuid() != 0) place.users_threads = count_threads(::geteuid());
    Namespaces own;
    if (wants_namespaces_) own = enter_namespaces();
    place.own_processes = own.processes;
    place.shared = own.why.empty() ? "" : "no namespaces: " + own.why;
    hide_memory();
    // The worker may cover it by one of its own, in which processes have other numbers.
    UniqueFd processes(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    // What loses its parent becomes our child; and we outlive our own parent, to see to that.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &before);
    ended_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!ended_) return fail(ErrorCode::machine, "a guard cannot be set up: {}", errno_text(errno));

    if (place.own_processes) {
      init_ = ::fork();
      if (init_ == 0) {
        be_init(*lifeline_);
        return Surroundings{.is_guard = true};
      }
      if (init_ < 0) return fail(ErrorCode::machine, "cannot fork: {}", errno_text(errno));
    }
    int looked[2];  // Until the guard has opened what shows the worker's memory.
    if (::pipe2(looked, O_CLOEXEC) != 0)
      return fail(ErrorCode::machine, "a guard cannot be set up: {}", errno_text(errno));
    UniqueFd has_looked(looked[0]), is_looking(looked[1]);
    // A child is as its parent was; nobody who could look is there yet.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    worker_ = ::fork();
    if (worker_ < 0) return fail(ErrorCode::machine, "cannot fork: {}", errno_text(errno));
    if (worker_ == 0) {
      processes.reset();  // Nobody outside is to be seen.
      is_looking.reset();
      char none;
      while (::read(has_looked.get(), &none, 1) < 0 && errno == EINTR) {
      }
      hide_memory();
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      return be_worker(std::move(place), own);
    }
    const std::vector<UniqueFd> memory = open_memory(processes.get(), worker_);
    hide_memory();
    is_looking.reset();
    ::close(process::kChannelFd);  // Its end is to be seen when the worker's copy is closed.
    lifeline_->watched.reset();
    process::GuardStands stands{.worker = worker_};
    for (const UniqueFd& file : memory) stands.files.lend(file.get());
    if (tell(stands, stands.files.numbers())) watch();
    end_all();
    if (status_) (void)tell(process::GuardTells{.status = *status_});
    return Surroundings{.is_guard = true};
  }

  Result<Surroundings> be_worker(Surroundings place, const Namespaces& own) {
    // A session of its own: what it sends to its group does not reach the guard.
    ::setsid();
    if (!lifeline_->hold_on()) return Surroundings{.is_guard = true};
    channel_.close();
    lifeline_.reset();
    ended_.reset();
    if (own.mounts) {
      place.own_proc = mount_own_proc();
      place.read_only = mount_all_read_only();
      if (!place.read_only)
        place.shared = "file systems cannot be made read-only: " + errno_text(errno);
    }
    // Now, while there is one thread: libraries start theirs when they are loaded, and each thread
    // has its own.
    if (wants_namespaces_) forbid_new_privileges();
    if (wants_namespaces_) (void)forbid_writing_to_proc();
    if (own.users) drop_capabilities();
    return place;
  }

  template <class Told>
  Status tell(const Told& told, std::span<const int> files = {}) {
    return channel_.send(process::Codec<Told>::write(told), files);
  }

  // Until the worker has ended, or the parent wants it to.
  void watch() {
    while (!status_) {
      pollfd watched[2] = {{ended_.get(), POLLIN, 0}, {channel_.fd(), POLLIN, 0}};
      if (::poll(watched, 2, -1) < 0 && errno != EINTR) return;
      if (watched[1].revents != 0 && !stop_or_go_on()) return;
      signalfd_siginfo ignored{};
      while (::read(ended_.get(), &ignored, sizeof ignored) > 0) {
      }
      while (reap(WNOHANG)) {
      }
    }
  }

  // As the parent asks: all threads of the worker stand still, or go on. False: it wants the end.
  bool stop_or_go_on() {
    const auto asked = channel_.receive(monotonic_ns() + kHandshakeNs);
    if (!asked) return false;
    const auto asks = process::Codec<process::GuardStops>::read(asked->json);
    if (!asks || status_) return !status_;
    if (!asks->stop) return ::kill(worker_, SIGCONT) == 0;
    const bool stopped = stop_worker();
    if (status_) return false;  // It ended: that is told instead.
    return tell(process::GuardTells{.stopped = stopped}).has_value();
  }

  // The system tells its parent when the last of its threads has stopped.
  bool stop_worker() {
    ::kill(worker_, SIGSTOP);
    const int64_t deadline = monotonic_ns() + kMostStopNs;
    while (monotonic_ns() < deadline) {
      int status = 0;
      const pid_t changed = ::waitpid(worker_, &status, WUNTRACED | WNOHANG);
      if (changed < 0) return false;
      if (changed == worker_ && WIFSTOPPED(status)) return true;
      if (changed == worker_) {
        status_ = status;
        return false;
      }
      pollfd some{ended_.get(), POLLIN, 0};
      ::poll(&some, 1, 1);
      signalfd_siginfo ignored{};
      while (::read(ended_.get(), &ignored, sizeof ignored) > 0) {
      }
    }
    return false;
  }

  // One child that has ended. False if there is none (yet).
  bool reap(int flags) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, flags);
    if (ended == worker_) status_ = status;
    return ended > 0;
  }

  void end_all() {
    if (!status_) ::kill(worker_, SIGKILL);
    if (init_ > 0) {
      // The kernel ends the whole namespace, and lets us reap its init when nobody is left.
      ::kill(init_, SIGKILL);
      while (reap(0)) {
      }
      return;
    }
    const int64_t deadline = monotonic_ns() + kSweepNs;
    while (monotonic_ns() < deadline) {
      while (reap(WNOHANG)) {
      }
      const std::vector<pid_t> left = own_children();
      if (left.empty()) return;
      for (const pid_t pid : left) ::kill(pid, SIGKILL);
      // Each that ends hands its own children to us.
      pollfd some{ended_.get(), POLLIN, 0};
      ::poll(&some, 1, 50);
      signalfd_siginfo ignored{};
      while (::read(ended_.get(), &ignored, sizeof ignored) > 0) {
      }
    }
  }

  MessageChannel channel_;
  bool wants_namespaces_;
  std::optional<Lifeline> lifeline_;
  UniqueFd ended_;  // Readable when a child has ended.
  pid_t init_ = -1, worker_ = -1;
  std::optional<int> status_;  // The worker's.
};

}  // namespace

Result<Surroundings> stand_guard() {
  if (::fcntl(process::kGuardFd, F_GETFD) < 0) return Surroundings{.shared = "there is no guard"};
  MessageChannel channel{UniqueFd(process::kGuardFd)};
  ASSAY_TRY(const Message wanted, channel.receive(monotonic_ns() + kHandshakeNs));
  ASSAY_TRY(const auto begins, process::Codec<process::GuardBegins>::read(wanted.json));
  return Guard(std::move(channel), begins.confining).stand();
}

}  // namespace assay::sweep
