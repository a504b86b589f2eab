#include "assay/process/child.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/subprocess.h"
#include "assay/base/text.h"
#include "assay/base/turns.h"

namespace assay::sweep {
namespace {

constexpr int kPollMs = 20;  // How often memory is looked at while we wait.

// Whether something happens within a while, in which the caller does not sleep: who tells a sleeper
// wakes it, which takes up to 15 us (measured), between the moment that is told and a clock's
// start. So long a user's operands may take to be flushed.
bool comes_awake(std::vector<pollfd>& watched) {
  constexpr int64_t kAwakeNs = 20 * kNsPerMs;
  const int64_t until = monotonic_ns() + kAwakeNs;
  while (monotonic_ns() < until)
    if (::poll(watched.data(), watched.size(), 0) != 0) return true;
  return false;
}

}  // namespace

bool is_interruption(const CallFailure& failure) {
  const auto* error = std::get_if<Error>(&failure);
  return error != nullptr && error->code == ErrorCode::interrupted;
}

Error as_error(const CallFailure& failure, std::string_view doing) {
  // What is wrong with a user's file names its place by itself.
  if (const auto* error = std::get_if<Error>(&failure))
    return error->code == ErrorCode::invalid_input ? *error : with_context(*error, doing);
  const auto& death = std::get<Death>(failure);
  std::string how;
  switch (death.kind) {
    case Death::Kind::crashed:
      how = death.signal != 0
                ? "was " + ExitStatus{ExitStatus::Kind::signaled, 0, death.signal}.describe()
                : ExitStatus{ExitStatus::Kind::exited, death.exit_code, 0}.describe();
      break;
    case Death::Kind::timed_out:
      how = fmt::format("did not answer within {} s", death.limit_seconds);
      break;
    case Death::Kind::out_of_memory:
      how = fmt::format("grew beyond {} MiB", death.limit_bytes >> 20);
      break;
    case Death::Kind::broke_protocol:
      how = "sent what is no message: " + death.detail;
      break;
  }
  std::string message = fmt::format("{}: our process {}", doing, how);
  if (!death.output_tail.empty()) message += "; it last printed: " + sanitize(death.output_tail);
  return Error{ErrorCode::machine, std::move(message)};
}

Child::Answered Child::wait_for_any(std::span<Child* const> posted) {
  for (;;) {
    for (size_t i = 0; i < posted.size(); ++i)
      if (auto reply = posted[i]->take_reply()) return {i, std::move(*reply)};
    // Answer, output, end of a child, or the user's wish to stop: whichever comes first, or a
    // moment in which memory may have grown.
    Watched watched;
    watched.deadline_ns = monotonic_ns() + kPollMs * kNsPerMs;
    for (Child* const child : posted) child->watch(watched);
    if (watched.has_ended || (watched.comes_soon && comes_awake(watched.fds))) continue;
    const int64_t left_ms = (watched.deadline_ns - monotonic_ns()) / kNsPerMs;
    const auto wait = [&] {
      ::poll(watched.fds.data(), watched.fds.size(),
             static_cast<int>(std::clamp<int64_t>(left_ms, 0, kPollMs)));
    };
    if (watched.others_run)
      let_others_run(wait);
    else
      wait();
  }
}

}  // namespace assay::sweep
