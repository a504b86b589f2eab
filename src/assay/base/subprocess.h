#pragma once

// Child processes: exact environment, no descriptor but those asked for, no orphan. Safe in
// programs with threads: between fork and exec only async-signal-safe calls are made.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

// Where one of the child's three standard streams goes.
struct Redirect {
  enum class Kind { inherit, null, pipe, fd };
  Kind kind = Kind::null;
  int descriptor = -1;  // For Kind::fd: ours; it stays open here.

  static Redirect inherit() { return {Kind::inherit, -1}; }
  static Redirect null() { return {Kind::null, -1}; }
  static Redirect pipe() { return {Kind::pipe, -1}; }
  static Redirect fd(int descriptor) { return {Kind::fd, descriptor}; }
};

struct FdMapping {
  int child_fd = -1;   // At least 3.
  int parent_fd = -1;  // Stays open here.
};

struct SubprocessOptions {
  // argv[0] with a slash is a path; without, it is looked for along the PATH in `env`, or in
  // /usr/local/bin:/usr/bin:/bin if that has none.
  std::vector<std::string> argv;
  std::vector<std::string> env;             // "NAME=value", exactly these: nothing is inherited.
  std::string working_directory;            // Empty: ours.
  Redirect stdin_to, stdout_to, stderr_to;  // /dev/null unless said otherwise.
  std::vector<FdMapping> extra_fds;
  bool new_process_group = true;  // So that terminate() and the destructor reach its children too.
  // SIGKILL when the *thread* that started it ends: start long-lived children from a thread that
  // stays.
  bool die_with_parent = true;
  bool core_dumps = false;
  // Of the child and of each of its own: RLIMIT_AS. 0: ours.
  std::uint64_t address_space_bytes = 0;
  // The same of each file that is written: RLIMIT_FSIZE. 0: ours.
  std::uint64_t file_bytes = 0;
};

// Gives a variable of an environment ("NAME=value", each) that one value.
void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value);

struct ExitStatus {
  enum class Kind { running, exited, signaled };
  Kind kind = Kind::running;
  int code = 0;    // For exited.
  int signal = 0;  // For signaled.

  bool running() const { return kind == Kind::running; }
  bool success() const { return kind == Kind::exited && code == 0; }
  std::string describe() const;  // "exited with code 2", "killed by signal 11 (SIGSEGV)"
};

class Subprocess {
 public:
  // Returns once the program runs. not_found: no such program; machine: fork, exec or a descriptor
  // failed, with the system's reason; invalid_input: options that make no sense.
  static Result<Subprocess> start(const SubprocessOptions& options);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();  // SIGKILL to the group, then waits for the child.

  pid_t pid() const { return pid_; }
  // Our ends of the streams that are pipes; reset() stdin_pipe to give the child its end of file.
  UniqueFd& stdin_pipe() { return stdin_pipe_; }
  UniqueFd& stdout_pipe() { return stdout_pipe_; }
  UniqueFd& stderr_pipe() { return stderr_pipe_; }
  int pid_fd() const {
    return pid_fd_.get();
  }  // Readable when the child has ended; -1 if unsupported.

  // The status now, or when the child has ended or `timeout_ns` has passed (none: waits for ever).
  // When the child has ended, what is left of its group is killed before the child is reaped.
  Result<ExitStatus> poll();
  Result<ExitStatus> wait(std::optional<std::int64_t> timeout_ns = std::nullopt);

  // Sends a signal to the group (to the child alone if it has no group of its own). Fine if it has
  // ended.
  Status send_signal(int signal);
  // SIGTERM; after `grace_ns` SIGKILL; then reaps.
  Result<ExitStatus> terminate(std::int64_t grace_ns = 0);

 private:
  Subprocess() = default;
  void destroy();

  pid_t pid_ = -1;
  bool own_group_ = false;
  ExitStatus status_;
  UniqueFd pid_fd_, stdin_pipe_, stdout_pipe_, stderr_pipe_;
};

struct CommandLimits {
  std::optional<std::int64_t> timeout_ns;
  std::size_t max_output = 1 << 20;  // Bytes kept of each stream; the rest is read and dropped.
  std::string_view input;     // For the child's stdin; empty leaves stdin as the options say.
  int cancel_fd = -1;         // Readable: the group is killed; ErrorCode::interrupted.
  std::int64_t grace_ns = 0;  // From SIGTERM to SIGKILL, when a group is killed.
};

struct CommandOutput {
  ExitStatus status;
  std::string out, err;    // Bytes of an untrusted program: sanitize() before showing them.
  bool timed_out = false;  // The group was killed for it.
  bool truncated = false;  // Of out or err.
};

// Runs a program to its end and collects its output; stdout_to and stderr_to of `options` are
// ignored. A timeout or a nonzero exit is an output, not an Error.
Result<CommandOutput> run_command(const SubprocessOptions& options, const CommandLimits& limits);

// A file that this user may execute.
bool is_program(const std::string& path);
// The first of that name in the folders of this environment's PATH; empty where there is none.
std::string find_along_path(std::string_view name, std::span<const std::string> environment);

}  // namespace assay
