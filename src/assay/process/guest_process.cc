#include "assay/process/guest_process.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "assay/process/child_process.h"
#include "assay/process/messages.h"

namespace assay::sweep {
namespace {

// Beyond the program's own limit: starting, and clearing its folder away.
constexpr double kSlackSeconds = 60;

}  // namespace

int64_t compiler_memory(int64_t limit) {
  // g++ 12 compiles a kernel that includes the larger headers of the standard library in 300 MiB of
  // address space, however small the kernel's own share is.
  constexpr int64_t kLeast = int64_t{1} << 30;
  const int64_t half = int64_t{::sysconf(_SC_PHYS_PAGES)} * int64_t{::sysconf(_SC_PAGESIZE)} / 2;
  return std::max(limit > 0 ? limit : half, kLeast);
}

Result<CommandOutput> run_confined(const GuestProgram& program) {
  return run_confined_until(program, -1);
}

Result<CommandOutput> run_confined_until(const GuestProgram& program, int cancel_fd) {
  ChildOptions options;
  options.role = "worker";
  options.guard = ChildOptions::Guard::confining;
  options.cancel_fd = cancel_fd;
  ASSAY_TRY(ChildProcess child, ChildProcess::start(options));
  auto answer = child.call(process::Guest{program}, program.timeout_seconds + kSlackSeconds);
  if (!answer)
    return fail(as_error(answer.error(), fmt::format("running {}", program.argv.front())));
  CommandOutput output;
  output.status = {answer->signal != 0 ? ExitStatus::Kind::signaled : ExitStatus::Kind::exited,
                   answer->code, answer->signal};
  output.timed_out = answer->timed_out;
  output.truncated = answer->truncated;
  output.out = std::move(answer->out);
  output.err = std::move(answer->err);
  return output;
}

}  // namespace assay::sweep
