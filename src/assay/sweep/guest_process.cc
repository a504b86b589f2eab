#include "assay/sweep/guest_process.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/sweep/child.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {

// Beyond the program's own limit: starting, and clearing its folder away.
constexpr double kSlackSeconds = 60;

ExitStatus status_from(const Json& json) {
  ExitStatus status;
  const auto code = whole_or(json, "code", 0);
  const auto signal = whole_or(json, "signal", 0);
  status.kind = signal != 0 ? ExitStatus::Kind::signaled : ExitStatus::Kind::exited;
  status.code = code;
  status.signal = signal;
  return status;
}

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
  ASSAY_TRY(Child child, Child::start(options));
  const Json request = {{"do", "guest"},
                        {"argv", program.argv},
                        {"input", program.input},
                        {"timeout", program.timeout_seconds},
                        {"memory", program.memory_bytes},
                        {"most_output", program.most_output}};
  auto answer = child.call(request, program.timeout_seconds + kSlackSeconds);
  if (!answer)
    return fail(as_error(answer.error(), fmt::format("running {}", program.argv.front())));
  CommandOutput output;
  output.status = status_from(answer->json);
  output.timed_out = answer->json.value("timed_out", false);
  output.truncated = answer->json.value("truncated", false);
  output.out = answer->json.value("out", std::string());
  output.err = answer->json.value("err", std::string());
  return output;
}

}  // namespace assay::sweep
