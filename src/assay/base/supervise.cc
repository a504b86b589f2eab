#include "assay/base/supervise.h"

#include <cstdlib>
#include <cstring>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/own_children.h"
#include "assay/base/text.h"

namespace assay {
namespace {

constexpr std::int64_t kSweepNs = 20 * kNsPerSecond;  // For its children to go.
constexpr int kCannotStart = 127;

// Before anything starts: a name that is wrong is the caller's error, and no outcome.
Status check_program(const SubprocessOptions& options) {
  if (options.argv.empty() || options.argv[0].empty())
    return fail(ErrorCode::invalid_input, "no program is named");
  const std::string& name = options.argv[0];
  const bool is_path = name.find('/') != std::string::npos;
  const std::string path = !is_path ? find_along_path(name, options.env)
                           : name[0] == '/' || options.working_directory.empty()
                               ? name
                               : options.working_directory + '/' + name;
  if (is_program(path)) return {};
  return fail(ErrorCode::not_found, "there is no program '{}' {}", sanitize(name, 200),
              is_path ? "that can be run" : "along the PATH");
}

class Supervisor {
 public:
  explicit Supervisor(char** program) : program_(program) {}

  int run() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigset_t before;
    sigemptyset(&signals_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals_, signal);
    ::sigprocmask(SIG_BLOCK, &signals_, &before);
    main_ = ::fork();
    if (main_ < 0) return kCannotStart;
    if (main_ == 0) {
      ::setsid();  // What it sends to its group does not reach us.
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      ::execvp(program_[0], program_);
      const std::string sentence =
          fmt::format("assay: cannot start '{}': {}\n", program_[0], errno_text(errno));
      (void)!::write(STDERR_FILENO, sentence.data(), sentence.size());
      ::_exit(kCannotStart);
    }
    wait_for_end();
    end_all();
    return end_likewise();
  }

 private:
  void wait_for_end() {
    while (!ended_) {
      const int signal = ::sigwaitinfo(&signals_, nullptr);
      if (signal > 0 && signal != SIGCHLD) return;
      reap();
    }
  }

  // Children that have ended.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (pid == main_) {
        ended_ = true;
        status_ = status;
      }
  }

  // Each that ends hands its own children to us.
  void end_all() {
    const std::int64_t deadline = monotonic_ns() + kSweepNs;
    const timespec pause{0, 20 * kNsPerMs};
    while (monotonic_ns() < deadline) {
      const std::vector<pid_t> left = own_children();
      if (left.empty()) return;
      for (const pid_t pid : left) ::kill(pid, SIGKILL);
      sigset_t child;
      sigemptyset(&child);
      sigaddset(&child, SIGCHLD);
      ::sigtimedwait(&child, nullptr, &pause);
      reap();
    }
  }

  int end_likewise() const {
    if (!ended_) return kCannotStart;
    if (WIFEXITED(status_)) return WEXITSTATUS(status_);
    sigset_t all;
    sigemptyset(&all);
    ::signal(WTERMSIG(status_), SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    ::raise(WTERMSIG(status_));
    return kCannotStart;
  }

  char** program_;
  sigset_t signals_{};
  pid_t main_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace

Result<SubprocessOptions> behind_supervisor(const SubprocessOptions& options,
                                            const std::string& supervisor) {
  ASSAY_TRY(check_program(options));
  SubprocessOptions behind = options;
  behind.argv = {supervisor, "supervise", std::to_string(::getpid())};
  behind.argv.insert(behind.argv.end(), options.argv.begin(), options.argv.end());
  behind.new_process_group = true;
  behind.die_with_parent = false;  // It outlives us, to end what it guards.
  return behind;
}

Result<CommandOutput> run_supervised(const SubprocessOptions& options, const CommandLimits& limits,
                                     const std::string& supervisor) {
  ASSAY_TRY(const SubprocessOptions behind, behind_supervisor(options, supervisor));
  CommandLimits patient = limits;
  patient.grace_ns = kSupervisorGraceNs;
  // A program may kill the supervisor that guards it: what that leaves becomes ours, and ends here.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  auto output = run_command(behind, patient);
  if (!output || output->status.kind == ExitStatus::Kind::signaled) end_orphans(kSweepNs);
  return output;
}

int supervise_main(int argc, char** argv) {
  constexpr int kProgram = 3;
  if (argc <= kProgram) return kCannotStart;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (::getppid() != static_cast<pid_t>(std::strtol(argv[2], nullptr, 10))) return kCannotStart;
  return Supervisor(argv + kProgram).run();
}

}  // namespace assay
