#include "assay/sweep/child.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/base/turns.h"
#include "assay/sweep/guard.h"
#include "assay/sweep/protocol.h"

namespace assay::sweep {
namespace {

constexpr size_t kOutputTailBytes = 4096;
constexpr int kPollMs = 20;  // How often memory is looked at while we wait.
constexpr int64_t kGuardStartNs = 60 * kNsPerSecond;
// A guard has 10 s to find what its worker left behind.
constexpr int64_t kGuardEndNs = 15 * kNsPerSecond;
// A guard waits two seconds for its worker's threads to stop.
constexpr int64_t kParkNs = 5 * kNsPerSecond;

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

// Whether something happens within a while, in which the caller does not sleep: who tells a sleeper
// wakes it, which takes up to 15 us (measured), between the moment that is told and a clock's
// start. So long a user's operands may take to be flushed.
bool comes_soon(std::vector<pollfd>& watched) {
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
  UniqueFd guard_end;
  if (options.guard != ChildOptions::Guard::none) {
    ASSAY_TRY(auto guard, MessageChannel::create_pair());
    child.guard_ = std::move(guard.first);
    guard_end = std::move(guard.second);
    process.extra_fds.push_back({kGuardFd, guard_end.get()});
  }
  UniqueFd pulse_end;
  if (options.pulses) {
    ASSAY_TRY(auto pulses, PulseReceiver::create_pair());
    child.pulses_ = std::move(pulses.first);
    pulse_end = std::move(pulses.second);
    process.extra_fds.push_back({kPulseFd, pulse_end.get()});
  }
  ASSAY_TRY(auto started, Subprocess::start(process));
  child.process_ = std::move(started);
  child.channel_ = std::move(pair.first);
  child.pid_ = child.process_->pid();
  guard_end.reset();
  ASSAY_TRY(child.meet_guard());
  for (UniqueFd* pipe : {&child.process_->stdout_pipe(), &child.process_->stderr_pipe()})
    ::fcntl(pipe->get(), F_SETFL, ::fcntl(pipe->get(), F_GETFL) | O_NONBLOCK);
  return child;
}

Status Child::meet_guard() {
  if (!guard_) return {};
  const int64_t deadline = monotonic_ns() + kGuardStartNs;
  const bool confining = options_.guard == ChildOptions::Guard::confining;
  Status met = guard_->send({{"private", confining}}, {}, deadline);
  if (met) {
    auto answer = guard_->receive(deadline);
    const auto pid = answer ? integer(answer->json, "worker") : fail(answer.error());
    const auto error = answer ? text(answer->json, "error") : fail(answer.error());
    if (pid) pid_ = static_cast<pid_t>(*pid);
    if (answer && answer->fds.size() == 3)
      files_ = ProcessFiles{std::move(answer->fds[0]), std::move(answer->fds[1]),
                            std::move(answer->fds[2])};
    met = error ? fail(ErrorCode::machine, "{}", *error) : pid.map([](int64_t) {});
  }
  if (met) return {};
  drain();
  return fail(ErrorCode::machine, "a guard of a {} does not start: {}; it printed: {}",
              options_.role, met.error().message, sanitize(output_));
}

// How it ended, if it does within this time. A guard tells once all that it left behind has ended.
Result<ExitStatus> Child::wait_for_end(int64_t timeout_ns) {
  if (!guard_) return process_->wait(timeout_ns);
  const auto last = last_words_ ? Result<Message>(std::move(*last_words_))
                                : guard_->receive(monotonic_ns() + timeout_ns);
  if (!last && last.error().code == ErrorCode::busy) return ExitStatus{};
  const auto told = last ? integer(last->json, "status") : fail(last.error());
  if (!told) return process_->wait(timeout_ns);  // Somebody killed the guard.
  const int status = static_cast<int>(*told);
  return WIFSIGNALED(status) ? ExitStatus{ExitStatus::Kind::signaled, 0, WTERMSIG(status)}
                             : ExitStatus{ExitStatus::Kind::exited, WEXITSTATUS(status), 0};
}

void Child::stop() {
  if (!process_ || process_->pid() < 0) return;
  if (guard_) {
    guard_->close();
    (void)process_->wait(kGuardEndNs);
  }
  (void)process_->terminate(0);
}

bool Child::park() {
  if (!alive() || !guard_) return false;
  if (parked_at_) return true;
  const int64_t deadline = monotonic_ns() + kParkNs;
  if (!guard_->send({{"stop", true}}, {}, deadline)) return false;
  auto answer = guard_->receive(deadline);
  const auto stopped = answer ? integer(answer->json, "stopped") : fail(answer.error());
  if (!stopped && answer) last_words_ = std::move(*answer);
  if (last_words_) return true;  // It has ended, as the next call finds.
  if (!stopped || *stopped != 1) return false;
  parked_at_ = read_settled_clocks();
  return true;
}

// A thread is said to have stopped a moment before it leaves its core; until then its time is as
// old as its last tick, and what it took since would seem to be taken while it stands still.
ClockReading Child::read_settled_clocks() const {
  constexpr int kMostLooks = 16;
  constexpr int64_t kBetweenNs = 10'000;
  ClockReading reading = read_clocks();
  for (int look = 0; look < kMostLooks; ++look) {
    const int64_t again_ns = monotonic_ns() + kBetweenNs;
    while (monotonic_ns() < again_ns) {
    }
    const ClockReading later = read_clocks();
    const bool settled = later.cpu_ns == reading.cpu_ns;
    reading = later;
    if (settled) break;
  }
  return reading;
}

void Child::go_on() {
  if (!parked_at_ || !alive()) return;
  const ClockReading now = read_clocks();
  if (now.cpu_ns >= 0 && parked_at_->cpu_ns >= 0)
    cpu_while_parked_ns_ = now.cpu_ns - parked_at_->cpu_ns;
  parked_at_.reset();
  (void)guard_->send({{"stop", false}}, {}, monotonic_ns() + kParkNs);
}

ClockReading Child::read_clocks() const {
  ClockReading reading;
  reading.from_ns = reading.until_ns = monotonic_ns();
  clockid_t clock{};
  timespec spent{};
  if (!alive() || ::clock_getcpuclockid(pid_, &clock) != 0) return reading;
  reading.from_ns = monotonic_ns();
  if (::clock_gettime(clock, &spent) == 0)
    reading.cpu_ns = spent.tv_sec * kNsPerSecond + spent.tv_nsec;
  reading.until_ns = monotonic_ns();
  return reading;
}

void Child::hear_moments() {
  constexpr size_t kMost = 4096;  // Who tells of more than that tells nothing.
  if (!pulses_) return;
  while (moments_.size() < kMost) {
    const auto pulse = pulses_->next();
    if (!pulse) return;
    moments_.push_back({*pulse, read_clocks()});
    if (look_ && pulse->what == looked_for_) look_();
  }
}

void Child::begin_to_end() {
  if (guard_)
    guard_->close();
  else if (channel_)
    channel_->close();
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
    auto status = wait_for_end(kind == Death::Kind::crashed ? 2 * kNsPerSecond : 0);
    if (!status || status->running()) {
      // It lives on without a channel: then it was closed on purpose, and the end is of our making.
      if (kind == Death::Kind::crashed) {
        death.kind = Death::Kind::broke_protocol;
        death.detail = "it was closed";
      }
      status = ExitStatus{};
    }
    stop();
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
  guard_.reset();
  pulses_.reset();
  parked_at_.reset();
  process_.reset();
  return death;
}

Death Child::dismiss(std::string detail) {
  return death_ ? *death_ : die(Death::Kind::broke_protocol, 0, std::move(detail));
}

Result<std::vector<std::byte>> Child::read_memory(uint64_t address, size_t bytes) const {
  if (!shows_memory()) return fail(ErrorCode::machine, "its guard may not look");
  std::vector<std::byte> read(bytes);
  for (size_t at = 0; at < bytes;) {
    const ssize_t got = ::pread(files_->memory.get(), read.data() + at, bytes - at,
                                static_cast<off_t>(address + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorCode::machine, "no memory is mapped there");
    at += static_cast<size_t>(got);
  }
  return read;
}

bool Child::remember_code() {
  auto code = files_ && CodePages::may_watch(pid_) ? CodePages::remember(*files_)
                                                   : fail(ErrorCode::machine, "nobody may look");
  if (code) code_ = std::move(*code);
  return code_.has_value();
}

std::string Child::find_changed_code() {
  constexpr uint64_t kOfAllBytes = 8;  // One look in so many.
  if (!code_ || !alive()) return {};
  const auto depth =
      looks_() % kOfAllBytes == 0 ? CodePages::Depth::all_bytes : CodePages::Depth::quick;
  auto change = code_->find_change(pid_, *files_, depth);
  if (change) return std::move(*change);
  // One that has ended has its own ending.
  pollfd ended{files_->process.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 0 ? "keeps others from its code: " + change.error().message : "";
}

CallResult<Message> Child::call(const Json& request, double timeout_seconds,
                                std::span<const int> fds) {
  post(request, timeout_seconds, fds);
  Child* const posted[] = {this};
  return wait_for_any(posted).answer;
}

void Child::post(const Json& asked, double timeout_seconds, std::span<const int> fds) {
  Pending& pending = pending_.emplace();
  if (death_) {
    pending.failed = *death_;
    return;
  }
  hear_moments();
  moments_.clear();
  go_on();
  Json request = asked;
  pending.ticket = tickets_();
  request["ticket"] = pending.ticket;
  pending.timeout_seconds = timeout_seconds;
  pending.deadline_ns = monotonic_ns() + static_cast<int64_t>(timeout_seconds * 1e9);
  if (auto sent = channel_->send(request, fds, pending.deadline_ns); !sent) {
    const bool late = sent.error().code == ErrorCode::busy;
    pending.failed = die(late ? Death::Kind::timed_out : Death::Kind::crashed, timeout_seconds,
                         sent.error().message);
  }
}

Child::Answered Child::wait_for_any(std::span<Child* const> posted) {
  for (;;) {
    for (size_t i = 0; i < posted.size(); ++i)
      if (auto answer = posted[i]->take_answer()) return {i, std::move(*answer)};
    wait_until_something_happens(posted);
  }
}

bool Child::is_told_soon() const {
  return wakes_for_moments_ && !moments_.empty() && moments_.back().pulse.what == awake_after_;
}

// Answer, output, end of a child, or the user's wish to stop: whichever comes first, or a moment in
// which memory may have grown.
void Child::wait_until_something_happens(std::span<Child* const> posted) {
  std::vector<pollfd> watched;
  int64_t first_deadline = monotonic_ns() + kPollMs * kNsPerMs;
  bool others_run = true;
  for (Child* const child : posted) {
    if (!child->alive()) return;
    others_run = others_run && child->options_.lets_others_run;
    for (const int fd :
         {child->channel_->fd(), child->process_->stdout_pipe().get(),
          child->process_->stderr_pipe().get(), child->options_.cancel_fd, child->end_fd()})
      watched.push_back({fd, POLLIN, 0});
    if (child->wakes_for_moments_ && child->pulses_)
      watched.push_back({child->pulses_->fd(), POLLIN, 0});
    first_deadline = std::min(first_deadline, child->pending_->deadline_ns);
  }
  const auto is_told_soon = [](const Child* child) { return child->is_told_soon(); };
  if (std::ranges::any_of(posted, is_told_soon) && comes_soon(watched)) return;
  const int64_t left_ms = (first_deadline - monotonic_ns()) / kNsPerMs;
  const auto wait = [&] {
    ::poll(watched.data(), watched.size(),
           static_cast<int>(std::clamp<int64_t>(left_ms, 0, kPollMs)));
  };
  if (others_run)
    let_others_run(wait);
  else
    wait();
}

std::optional<CallResult<Message>> Child::take_answer() {
  std::optional<CallResult<Message>> answer;
  if (pending_->failed)
    answer = tl::unexpected<CallFailure>(std::move(*pending_->failed));
  else
    answer = look_for_answer();
  if (answer) pending_.reset();
  return answer;
}

std::optional<CallResult<Message>> Child::look_for_answer() {
  const double timeout_seconds = pending_->timeout_seconds;
  const auto death = [&](Death::Kind kind, std::string detail) {
    return tl::unexpected<CallFailure>(die(kind, timeout_seconds, std::move(detail)));
  };
  pollfd now[3] = {
      {channel_->fd(), POLLIN, 0}, {options_.cancel_fd, POLLIN, 0}, {end_fd(), POLLIN, 0}};
  ::poll(now, 3, 0);
  hear_moments();
  if ((now[1].revents & POLLIN) != 0) {
    die(Death::Kind::timed_out, timeout_seconds, "interrupted");
    return tl::unexpected<CallFailure>(Error{ErrorCode::interrupted, "stopped by the user"});
  }
  drain();
  if ((now[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
    auto message = channel_->receive(monotonic_ns() + kNsPerMs);
    if (message) {
      const Json& json = message->json;
      const auto answered = json.is_object() ? json.find("ticket") : json.end();
      if (answered == json.end() || !answered->is_number_unsigned() ||
          answered->get<uint64_t>() != pending_->ticket)
        return death(Death::Kind::broke_protocol, "an answer to nothing that was asked");
      if (const auto error = json.find("error"); error != json.end()) {
        Error failure = told(*error);
        // Nothing more can be done with the card in that process.
        if (failure.code == ErrorCode::device_lost)
          die(Death::Kind::crashed, timeout_seconds, failure.message);
        return tl::unexpected<CallFailure>(std::move(failure));
      }
      return std::move(*message);
    }
    if (message.error().code == ErrorCode::failed) return death(Death::Kind::crashed, "");
    if (message.error().code != ErrorCode::busy)
      return death(Death::Kind::broke_protocol, message.error().message);
  }
  // Its own children may hold the channel open beyond its end.
  else if ((now[2].revents & (POLLIN | POLLHUP)) != 0)
    return death(Death::Kind::crashed, "");
  if (options_.memory_limit_bytes > 0 && resident_bytes(pid_) > options_.memory_limit_bytes)
    return death(Death::Kind::out_of_memory, "");
  if (monotonic_ns() >= pending_->deadline_ns) return death(Death::Kind::timed_out, "");
  return std::nullopt;
}

}  // namespace assay::sweep
