// run_command: a Subprocess whose output is collected while it runs.

#include <algorithm>
#include <array>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"

namespace assay {
namespace {

constexpr std::int64_t kPollWithoutPidFd = 5 * kNsPerMs;

// Reads what is there. False at the end of the stream.
bool drain(int fd, std::string& text, std::size_t max_output, bool& truncated) {
  std::array<char, 64 << 10> buffer;
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    const std::size_t room = max_output - text.size();
    const std::size_t kept = std::min(room, static_cast<std::size_t>(n));
    text.append(buffer.data(), kept);
    truncated |= kept < static_cast<std::size_t>(n);
  }
}

void drain_or_close(UniqueFd& fd, std::string& text, std::size_t max_output, bool& truncated) {
  if (fd && !drain(fd.get(), text, max_output, truncated)) fd.reset();
}

// A child that does not read its input is its own affair: the pipe is closed and nothing is said.
void feed(UniqueFd& fd, std::string_view& input) {
  const auto written =
      write_some(fd.get(), std::as_bytes(std::span<const char>(input.data(), input.size())));
  if (written) input.remove_prefix(*written);
  if (!written || input.empty()) fd.reset();
}

Status make_nonblocking(const UniqueFd& fd) {
  if (!fd) return {};
  const int flags = fcntl(fd.get(), F_GETFL);
  if (flags >= 0 && fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0) return {};
  return fail(ErrorCode::machine, "cannot set up a pipe: {}", errno_text(errno));
}

}  // namespace

Result<CommandOutput> run_command(const SubprocessOptions& options, const CommandLimits& limits) {
  SubprocessOptions piped = options;
  piped.stdout_to = piped.stderr_to = Redirect::pipe();
  if (!limits.input.empty()) piped.stdin_to = Redirect::pipe();
  std::optional<std::int64_t> deadline;
  if (limits.timeout_ns) deadline = monotonic_ns() + *limits.timeout_ns;
  ASSAY_TRY(Subprocess process, Subprocess::start(piped));
  UniqueFd& in = process.stdin_pipe();
  UniqueFd& out = process.stdout_pipe();
  UniqueFd& err = process.stderr_pipe();
  ASSAY_TRY(make_nonblocking(in));
  ASSAY_TRY(make_nonblocking(out));
  ASSAY_TRY(make_nonblocking(err));
  std::string_view input = limits.input;
  if (in && input.empty()) in.reset();

  CommandOutput output;
  const auto collect = [&] {
    drain_or_close(out, output.out, limits.max_output, output.truncated);
    drain_or_close(err, output.err, limits.max_output, output.truncated);
  };
  while (true) {
    ASSAY_TRY(output.status, process.poll());
    if (!output.status.running()) break;
    const std::int64_t now = monotonic_ns();
    if (deadline && now >= *deadline) {
      output.timed_out = true;
      ASSAY_TRY(output.status, process.terminate(limits.grace_ns));
      break;
    }
    std::int64_t left = deadline ? *deadline - now : 3600 * kNsPerSecond;
    if (process.pid_fd() < 0) left = std::min(left, kPollWithoutPidFd);
    const timespec pause{left / kNsPerSecond, left % kNsPerSecond};
    // Negative descriptors (closed streams) are skipped by poll.
    std::array<pollfd, 5> entries = {{{out.get(), POLLIN, 0},
                                      {err.get(), POLLIN, 0},
                                      {in.get(), POLLOUT, 0},
                                      {process.pid_fd(), POLLIN, 0},
                                      {limits.cancel_fd, POLLIN, 0}}};
    if (ppoll(entries.data(), entries.size(), &pause, nullptr) < 0) {
      if (errno == EINTR) continue;
      return fail(ErrorCode::machine, "cannot wait for a process: {}", errno_text(errno));
    }
    if (entries[4].revents != 0) {
      ASSAY_TRY(process.terminate(limits.grace_ns));
      return fail(ErrorCode::interrupted, "stopped while '{}' was running", options.argv[0]);
    }
    if (entries[2].revents != 0) feed(in, input);
    collect();
  }
  // What the child wrote lies in the pipes. Whoever else holds them open is not waited for.
  collect();
  return output;
}

}  // namespace assay
