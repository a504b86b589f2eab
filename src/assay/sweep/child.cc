#include "assay/sweep/child.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay::sweep {
namespace {

constexpr size_t kOutputTailBytes = 4096;
constexpr int kChannelFd = 3;
constexpr int kPollMs = 20;  // How often memory is looked at while we wait.

// Resident bytes of a process, 0 if it cannot be read.
int64_t resident_bytes(pid_t pid) {
  const UniqueFd fd(::open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t got = fd ? ::read(fd.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* space = text;
  while (*space != '\0' && *space != ' ') ++space;
  return std::strtoll(space, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

// An error as a child tells it, whatever its fields hold.
Error told(const Json& error) {
  const auto code = error.is_object() ? error.find("code") : error.end();
  const auto message = error.is_object() ? error.find("message") : error.end();
  Error read{ErrorCode::failed, "no reason given"};
  if (code != error.end() && code->is_number_integer()) {
    const auto number = code->get<int64_t>();
    if (number >= 0 && number <= static_cast<int64_t>(ErrorCode::internal))
      read.code = static_cast<ErrorCode>(number);
  }
  if (message != error.end() && message->is_string()) read.message = message->get<std::string>();
  return read;
}

}  // namespace

bool is_interruption(const CallFailure& failure) {
  const auto* error = std::get_if<Error>(&failure);
  return error != nullptr && error->code == ErrorCode::interrupted;
}

Error as_error(const CallFailure& failure, std::string_view doing) {
  if (const auto* error = std::get_if<Error>(&failure)) return with_context(*error, doing);
  const auto& death = std::get<Death>(failure);
  std::string how;
  switch (death.kind) {
    case Death::Kind::crashed:
      how = death.signal != 0 ? fmt::format("was killed by signal {}", death.signal)
                              : fmt::format("exited with code {}", death.exit_code);
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

Result<Child> Child::start(const ChildOptions& options) {
  Child child;
  child.options_ = options;
  ASSAY_TRY(auto pair, MessageChannel::create_pair());
  SubprocessOptions process;
  process.argv = {options.program, options.role};
  process.env = options.environment;
  process.stdin_to = Redirect::null();
  process.stdout_to = Redirect::pipe();
  process.stderr_to = Redirect::pipe();
  process.extra_fds = {{kChannelFd, pair.second.get()}};
  ASSAY_TRY(auto started, Subprocess::start(process));
  child.process_ = std::move(started);
  child.channel_ = std::move(pair.first);
  for (UniqueFd* pipe : {&child.process_->stdout_pipe(), &child.process_->stderr_pipe()})
    ::fcntl(pipe->get(), F_SETFL, ::fcntl(pipe->get(), F_GETFL) | O_NONBLOCK);
  return child;
}

void Child::drain() {
  if (!process_) return;
  for (UniqueFd* pipe : {&process_->stdout_pipe(), &process_->stderr_pipe()}) {
    char buffer[4096];
    // Bounded, so that a child that prints without end cannot keep us here.
    for (int i = 0; i < 64 && *pipe; ++i) {
      const ssize_t got = ::read(pipe->get(), buffer, sizeof buffer);
      if (got == 0) pipe->reset();
      if (got <= 0) break;
      output_.append(buffer, static_cast<size_t>(got));
      if (output_.size() > 2 * kOutputTailBytes)
        output_.erase(0, output_.size() - kOutputTailBytes);
    }
  }
}

Death Child::die(Death::Kind kind, double limit_seconds, std::string detail) {
  Death death;
  death.kind = kind;
  death.limit_seconds = limit_seconds;
  death.limit_bytes = options_.memory_limit_bytes;
  death.detail = std::move(detail);
  if (process_) {
    // One that closed its channel is about to end; give it a moment to say how.
    auto status =
        kind == Death::Kind::crashed ? process_->wait(2 * kNsPerSecond) : process_->poll();
    if (!status || status->running()) {
      // It lives on without a channel: then it was closed on purpose, and the end is of our making.
      if (kind == Death::Kind::crashed) {
        death.kind = Death::Kind::broke_protocol;
        death.detail = "it was closed";
      }
      status = process_->terminate(0);
    }
    if (status) {
      death.signal = status->kind == ExitStatus::Kind::signaled ? status->signal : 0;
      death.exit_code = status->kind == ExitStatus::Kind::exited ? status->code : 0;
    }
    drain();
  }
  if (output_.size() > kOutputTailBytes) output_.erase(0, output_.size() - kOutputTailBytes);
  death.output_tail = output_;
  death_ = death;
  channel_.reset();
  process_.reset();
  return death;
}

Death Child::dismiss(std::string detail) {
  return death_ ? *death_ : die(Death::Kind::broke_protocol, 0, std::move(detail));
}

CallResult<Message> Child::call(const Json& asked, double timeout_seconds,
                                std::span<const int> fds) {
  if (death_) return tl::unexpected<CallFailure>(*death_);
  Json request = asked;
  const uint64_t ticket = tickets_();
  request["ticket"] = ticket;
  const int64_t deadline = monotonic_ns() + static_cast<int64_t>(timeout_seconds * 1e9);
  if (auto sent = channel_->send(request, fds, deadline); !sent) {
    const bool late = sent.error().code == ErrorCode::busy;
    return tl::unexpected<CallFailure>(die(late ? Death::Kind::timed_out : Death::Kind::crashed,
                                           timeout_seconds, sent.error().message));
  }
  for (;;) {
    // Answer, output, end of the child, or the user's wish to stop: whichever comes first.
    pollfd watched[5] = {{channel_->fd(), POLLIN, 0},
                         {process_->stdout_pipe().get(), POLLIN, 0},
                         {process_->stderr_pipe().get(), POLLIN, 0},
                         {options_.cancel_fd, POLLIN, 0},
                         {process_->pid_fd(), POLLIN, 0}};
    const int64_t left_ms = (deadline - monotonic_ns()) / kNsPerMs;
    ::poll(watched, 5, static_cast<int>(std::clamp<int64_t>(left_ms, 0, kPollMs)));
    if ((watched[3].revents & POLLIN) != 0) {
      die(Death::Kind::timed_out, timeout_seconds, "interrupted");
      return tl::unexpected<CallFailure>(Error{ErrorCode::interrupted, "stopped by the user"});
    }
    drain();
    if ((watched[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      auto message = channel_->receive(monotonic_ns() + kNsPerMs);
      if (message) {
        const Json& json = message->json;
        const auto answered = json.is_object() ? json.find("ticket") : json.end();
        if (answered == json.end() || !answered->is_number_unsigned() ||
            answered->get<uint64_t>() != ticket)
          return tl::unexpected<CallFailure>(die(Death::Kind::broke_protocol, timeout_seconds,
                                                 "an answer to nothing that was asked"));
        if (const auto error = json.find("error"); error != json.end())
          return tl::unexpected<CallFailure>(told(*error));
        return std::move(*message);
      }
      if (message.error().code == ErrorCode::failed)
        return tl::unexpected<CallFailure>(die(Death::Kind::crashed, timeout_seconds, ""));
      if (message.error().code != ErrorCode::busy)
        return tl::unexpected<CallFailure>(
            die(Death::Kind::broke_protocol, timeout_seconds, message.error().message));
    }
    // Its own children may hold the channel open beyond its end.
    else if ((watched[4].revents & POLLIN) != 0)
      return tl::unexpected<CallFailure>(die(Death::Kind::crashed, timeout_seconds, ""));
    if (options_.memory_limit_bytes > 0 &&
        resident_bytes(process_->pid()) > options_.memory_limit_bytes)
      return tl::unexpected<CallFailure>(die(Death::Kind::out_of_memory, timeout_seconds, ""));
    if (monotonic_ns() >= deadline)
      return tl::unexpected<CallFailure>(die(Death::Kind::timed_out, timeout_seconds, ""));
  }
}

}  // namespace assay::sweep
