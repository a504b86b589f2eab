#include "assay/base/subprocess.h"

#include <algorithm>
#include <array>
#include <errno.h>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <set>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include "assay/base/clock.h"
#include "assay/base/own_children.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr int kCloseOnExecRange = 4;  // CLOSE_RANGE_CLOEXEC, Linux 5.11.

// Everything the child needs, made before the fork: afterwards nothing may allocate or lock, since
// another thread may have held the lock when the fork copied it.
struct Launch {
  std::string program;
  std::vector<char*> argv, envp;
  std::string working_directory;
  std::vector<FdMapping> fds;  // Standard streams included.
  int first_free_fd = 3;       // Above every child_fd.
  int fd_limit = 1024;
  int error_pipe = -1;
  bool new_group = false, die_with_parent = false, core_dumps = false;
  std::uint64_t address_space = 0, file_bytes = 0;
  pid_t parent = 0;
};

enum class Stage : int { setup, parent_gone, descriptors, directory, exec };

struct Failure {
  Stage stage;
  int error_number;
};

[[noreturn]] void report_and_exit(int pipe, Stage stage) {
  const Failure failure{stage, errno};
  (void)!::write(pipe, &failure, sizeof failure);
  _exit(127);
}

void mark_all_close_on_exec(int limit) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3u, ~0u, kCloseOnExecRange) == 0) return;
#endif
  for (int fd = 3; fd < limit; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Never raises one; 0 leaves it.
bool lower_limit(int resource, std::uint64_t most) {
  if (most == 0) return true;
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return false;
  if (most < limit.rlim_max) limit.rlim_max = most;
  if (limit.rlim_max < limit.rlim_cur) limit.rlim_cur = limit.rlim_max;
  return setrlimit(resource, &limit) == 0;
}

// Runs in the child. Only async-signal-safe calls.
[[noreturn]] void run_child(const Launch& launch, FdMapping* fds) {
  // All signals are blocked since before the fork, so that no handler of the parent runs here.
  // By the kernel's own call: the C library's refuses the two signals it keeps for itself, which a
  // parent of other make may have left ignored.
  constexpr std::size_t kSetBytes = 8;
  const std::array<unsigned long, 4> by_default{};  // Handler SIG_DFL, no flags, an empty mask.
  for (int signal = 1; signal < NSIG; ++signal) {
    syscall(SYS_rt_sigaction, signal, by_default.data(), nullptr, kSetBytes);
  }

  if (launch.new_group) setpgid(0, 0);
  if (launch.die_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) report_and_exit(launch.error_pipe, Stage::setup);
    if (getppid() != launch.parent) report_and_exit(launch.error_pipe, Stage::parent_gone);
  }
  if (!launch.core_dumps) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
  }
  if (!lower_limit(RLIMIT_AS, launch.address_space) ||
      !lower_limit(RLIMIT_FSIZE, launch.file_bytes))
    report_and_exit(launch.error_pipe, Stage::setup);

  // First everything out of the way of the numbers that the child wants, then each to its number.
  mark_all_close_on_exec(launch.fd_limit);
  const int pipe = fcntl(launch.error_pipe, F_DUPFD_CLOEXEC, launch.first_free_fd);
  if (pipe < 0) report_and_exit(launch.error_pipe, Stage::descriptors);
  for (std::size_t i = 0; i < launch.fds.size(); ++i) {
    fds[i].parent_fd = fcntl(fds[i].parent_fd, F_DUPFD_CLOEXEC, launch.first_free_fd);
    if (fds[i].parent_fd < 0) report_and_exit(pipe, Stage::descriptors);
  }
  for (std::size_t i = 0; i < launch.fds.size(); ++i) {
    if (dup2(fds[i].parent_fd, fds[i].child_fd) < 0) report_and_exit(pipe, Stage::descriptors);
  }
  if (!launch.working_directory.empty() && chdir(launch.working_directory.c_str()) != 0) {
    report_and_exit(pipe, Stage::directory);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(launch.program.c_str(), launch.argv.data(), launch.envp.data());
  report_and_exit(pipe, Stage::exec);
}

std::string_view path_of(std::span<const std::string> environment) {
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string_view entry : environment)
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  return path;
}

Result<std::string> find_program(const SubprocessOptions& options) {
  const std::string& name = options.argv[0];
  if (name.find('/') != std::string::npos) {
    if (name[0] == '/' || options.working_directory.empty()) return name;
    // Relative to our folder, not to the one that the child will be in.
    std::array<char, 4096> here;
    if (getcwd(here.data(), here.size()) == nullptr) {
      return fail(ErrorCode::machine, "cannot tell the current folder: {}", errno_text(errno));
    }
    return fmt::format("{}/{}", here.data(), name);
  }
  if (std::string found = find_along_path(name, options.env); !found.empty()) return found;
  return fail(ErrorCode::not_found, "there is no program '{}' in {}", sanitize(name, 200),
              sanitize(path_of(options.env), 1000));
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

Status check(const SubprocessOptions& options) {
  const auto refuse = [](std::string_view what) {
    return fail(ErrorCode::invalid_input, "cannot start a process: {}", what);
  };
  if (options.argv.empty() || options.argv[0].empty()) return refuse("no program is named");
  if (std::any_of(options.argv.begin(), options.argv.end(), has_nul)) {
    return refuse("an argument has a NUL in it");
  }
  for (const std::string& entry : options.env) {
    const auto equals = entry.find('=');
    if (equals == 0 || equals == std::string::npos || has_nul(entry)) {
      return refuse(fmt::format("'{}' is no NAME=value", sanitize(entry, 100)));
    }
  }
  if (has_nul(options.working_directory)) return refuse("the folder has a NUL in its name");
  for (std::size_t i = 0; i < options.extra_fds.size(); ++i) {
    const FdMapping& mapping = options.extra_fds[i];
    if (mapping.child_fd < 3) return refuse("an extra descriptor is numbered below 3");
    if (fcntl(mapping.parent_fd, F_GETFD) < 0) return refuse("an extra descriptor is not open");
    for (std::size_t j = 0; j < i; ++j) {
      if (options.extra_fds[j].child_fd == mapping.child_fd) {
        return refuse(fmt::format("descriptor {} is given twice", mapping.child_fd));
      }
    }
  }
  return {};
}

// Our end of a stream if it is a pipe, and the descriptor to give the child, which `keep` owns.
Status prepare_stream(const Redirect& to, int child_fd, Launch& launch, UniqueFd& ours,
                      std::vector<UniqueFd>& keep) {
  int source = -1;
  switch (to.kind) {
    case Redirect::Kind::inherit:
      return {};
    case Redirect::Kind::null:
      keep.emplace_back(::open("/dev/null", O_RDWR | O_CLOEXEC));
      source = keep.back().get();
      break;
    case Redirect::Kind::pipe: {
      int ends[2] = {-1, -1};
      if (pipe2(ends, O_CLOEXEC) == 0) {
        const int ours_at = child_fd == STDIN_FILENO ? 1 : 0;
        ours.reset(ends[ours_at]);
        keep.emplace_back(ends[1 - ours_at]);
        source = keep.back().get();
      }
      break;
    }
    case Redirect::Kind::fd:
      source = to.descriptor;
      if (fcntl(source, F_GETFD) < 0) {
        return fail(ErrorCode::invalid_input,
                    "cannot start a process: the descriptor for stream {} is not open", child_fd);
      }
      break;
  }
  if (source < 0) {
    return fail(ErrorCode::machine, "cannot start a process: {}", errno_text(errno));
  }
  launch.fds.push_back({child_fd, source});
  return {};
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

Error describe_failure(const Failure& failure, const SubprocessOptions& options,
                       const std::string& program) {
  const std::string reason = errno_text(failure.error_number);
  const std::string name = sanitize(program, 1000);
  switch (failure.stage) {
    case Stage::exec: {
      const int number = failure.error_number;
      const ErrorCode code = number == ENOENT || number == ENOTDIR   ? ErrorCode::not_found
                             : number == EACCES || number == ENOEXEC ? ErrorCode::invalid_input
                                                                     : ErrorCode::machine;
      return {code, fmt::format("cannot run '{}': {}", name, reason)};
    }
    case Stage::directory:
      return {ErrorCode::invalid_input,
              fmt::format("cannot run '{}' in '{}': {}", name,
                          sanitize(options.working_directory, 1000), reason)};
    case Stage::descriptors:
      return {ErrorCode::machine,
              fmt::format("cannot give '{}' its descriptors: {}", name, reason)};
    case Stage::parent_gone:
    case Stage::setup:
      break;
  }
  return {ErrorCode::machine, fmt::format("cannot prepare '{}': {}", name, reason)};
}

// Nothing if the pipe closed because exec succeeded.
std::optional<Failure> read_failure(int pipe) {
  Failure failure{};
  std::size_t got = 0;
  while (got < sizeof failure) {
    const ssize_t n = ::read(pipe, reinterpret_cast<char*>(&failure) + got, sizeof failure - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    got += static_cast<std::size_t>(n);
  }
  return failure;
}

// Children that this file started and has not reaped. Held over a fork, so that none is unknown.
std::mutex known_mutex;
std::set<pid_t>& known_children() {
  static auto* const known = new std::set<pid_t>;  // Never destroyed: threads may outlive main().
  return *known;
}

// Of a child that has ended. Together with forgetting it: its number may be another's at once.
pid_t reap_ended(pid_t pid, int& status) {
  const std::scoped_lock lock(known_mutex);
  pid_t reaped = -1;
  do {
    reaped = waitpid(pid, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  known_children().erase(pid);
  return reaped;
}

void reap(pid_t pid) {
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  int status = 0;
  reap_ended(pid, status);
}

}  // namespace

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value) {
  std::erase_if(environment, [&](std::string_view entry) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
  });
  std::string entry(name);
  entry += '=';
  environment.push_back(entry.append(value));
}

std::string ExitStatus::describe() const {
  switch (kind) {
    case Kind::running:
      return "still running";
    case Kind::exited:
      return fmt::format("exited with code {}", code);
    case Kind::signaled:
      break;
  }
  const char* name = sigabbrev_np(signal);
  if (name == nullptr) return fmt::format("killed by signal {}", signal);
  return fmt::format("killed by signal {} (SIG{})", signal, name);
}

Result<Subprocess> Subprocess::start(const SubprocessOptions& options) {
  ASSAY_TRY(check(options));
  Launch launch;
  ASSAY_TRY(launch.program, find_program(options));
  Subprocess process;
  std::vector<UniqueFd> keep;
  ASSAY_TRY(prepare_stream(options.stdin_to, STDIN_FILENO, launch, process.stdin_pipe_, keep));
  ASSAY_TRY(prepare_stream(options.stdout_to, STDOUT_FILENO, launch, process.stdout_pipe_, keep));
  ASSAY_TRY(prepare_stream(options.stderr_to, STDERR_FILENO, launch, process.stderr_pipe_, keep));
  for (const FdMapping& mapping : options.extra_fds) {
    launch.fds.push_back(mapping);
    launch.first_free_fd = std::max(launch.first_free_fd, mapping.child_fd + 1);
  }
  launch.argv = pointers_to(options.argv);
  launch.envp = pointers_to(options.env);
  launch.working_directory = options.working_directory;
  launch.fd_limit = descriptor_limit();
  launch.new_group = options.new_process_group;
  launch.die_with_parent = options.die_with_parent;
  launch.core_dumps = options.core_dumps;
  launch.address_space = options.address_space_bytes;
  launch.file_bytes = options.file_bytes;
  launch.parent = getpid();
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) {
    return fail(ErrorCode::machine, "cannot start a process: {}", errno_text(errno));
  }
  const UniqueFd error_reader(error_pipe[0]);
  UniqueFd error_writer(error_pipe[1]);
  launch.error_pipe = error_writer.get();
  std::vector<FdMapping> fds = launch.fds;  // The child's copy, which it changes.

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::unique_lock lock(known_mutex);
  const pid_t pid = fork();
  if (pid == 0) run_child(launch, fds.data());
  const int fork_error = errno;
  if (pid > 0) known_children().insert(pid);
  lock.unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return fail(ErrorCode::machine, "cannot start a process: {}", errno_text(fork_error));
  }
  // Done on both sides, since either may be the first to need it. Fails once the child has
  // executed.
  if (launch.new_group) setpgid(pid, pid);
  error_writer.reset();
  if (const auto failure = read_failure(error_reader.get())) {
    reap(pid);
    return fail(describe_failure(*failure, options, launch.program));
  }
  process.pid_ = pid;
  process.own_group_ = launch.new_group;
#ifdef SYS_pidfd_open
  process.pid_fd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
#endif
  return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      own_group_(other.own_group_),
      status_(other.status_),
      pid_fd_(std::move(other.pid_fd_)),
      stdin_pipe_(std::move(other.stdin_pipe_)),
      stdout_pipe_(std::move(other.stdout_pipe_)),
      stderr_pipe_(std::move(other.stderr_pipe_)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    destroy();
    pid_ = std::exchange(other.pid_, -1);
    own_group_ = other.own_group_;
    status_ = other.status_;
    pid_fd_ = std::move(other.pid_fd_);
    stdin_pipe_ = std::move(other.stdin_pipe_);
    stdout_pipe_ = std::move(other.stdout_pipe_);
    stderr_pipe_ = std::move(other.stderr_pipe_);
  }
  return *this;
}

Subprocess::~Subprocess() { destroy(); }

void Subprocess::destroy() {
  if (pid_ > 0 && status_.running()) {
    // A child that changed its user cannot be killed by us; waiting for it could take for ever.
    if (send_signal(SIGKILL)) reap(pid_);
  }
  pid_ = -1;
}

Status Subprocess::send_signal(int signal) {
  if (pid_ <= 0 || !status_.running()) return {};
  if (kill(own_group_ ? -pid_ : pid_, signal) == 0 || errno == ESRCH) return {};
  return fail(ErrorCode::machine, "cannot send signal {} to process {}: {}", signal, pid_,
              errno_text(errno));
}

Result<ExitStatus> Subprocess::poll() {
  if (pid_ <= 0) return fail(ErrorCode::internal, "a process was asked for that never started");
  if (!status_.running()) return status_;
  // Looked at without reaping, so that the group's number stays ours while the rest of it is
  // killed.
  siginfo_t info{};
  int result = 0;
  do {
    result = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  } while (result != 0 && errno == EINTR);
  if (result == 0 && info.si_pid == 0) return status_;
  if (result == 0 && own_group_) kill(-pid_, SIGKILL);
  int status = 0;
  if (reap_ended(pid_, status) < 0) {
    const int number = errno;
    const pid_t pid = std::exchange(pid_, -1);
    return fail(ErrorCode::internal, "somebody else has reaped process {}: {}", pid,
                errno_text(number));
  }
  if (WIFSIGNALED(status)) {
    status_ = {ExitStatus::Kind::signaled, 0, WTERMSIG(status)};
  } else {
    status_ = {ExitStatus::Kind::exited, WEXITSTATUS(status), 0};
  }
  return status_;
}

Result<ExitStatus> Subprocess::wait(std::optional<std::int64_t> timeout_ns) {
  std::optional<std::int64_t> deadline;
  if (timeout_ns) deadline = monotonic_ns() + *timeout_ns;
  while (true) {
    ASSAY_TRY(const ExitStatus status, poll());
    const bool late = deadline && monotonic_ns() >= *deadline;
    if (!status.running() || late) return status;
    if (pid_fd_) {
      ASSAY_TRY(wait_for_fd(pid_fd_.get(), POLLIN, deadline));
    } else {
      const timespec pause{0, 2 * kNsPerMs};  // Kernels before 5.3 have no better way.
      nanosleep(&pause, nullptr);
    }
  }
}

Result<ExitStatus> Subprocess::terminate(std::int64_t grace_ns) {
  if (grace_ns > 0) {
    ASSAY_TRY(send_signal(SIGTERM));
    ASSAY_TRY(const ExitStatus status, wait(grace_ns));
    if (!status.running()) return status;
  }
  ASSAY_TRY(send_signal(SIGKILL));
  return wait();
}

bool is_program(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string find_along_path(std::string_view name, std::span<const std::string> environment) {
  for (const std::string_view folder : split(path_of(environment), ':')) {
    if (folder.empty()) continue;
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (is_program(candidate)) return candidate;
  }
  return {};
}

void end_orphans(std::int64_t patience_ns) {
  const std::int64_t deadline = monotonic_ns() + patience_ns;
  for (;;) {
    bool any = false;
    {
      const std::scoped_lock lock(known_mutex);
      for (const pid_t pid : own_children()) {
        if (known_children().contains(pid)) continue;
        // Those that it started meanwhile become ours when it has ended.
        any = true;
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, WNOHANG);
      }
    }
    if (!any || monotonic_ns() > deadline) return;
    usleep(1000);
  }
}

}  // namespace assay
