#include "assay/process/child_process.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "assay/base/clock.h"
#include "assay/base/text.h"
#include "assay/process/descriptors.h"
#include "assay/process/guard.h"

namespace assay::sweep {
namespace {

constexpr size_t kOutputTailBytes = 4096;
constexpr int64_t kGuardStartNs = 60 * kNsPerSecond;
// A guard has 10 s to find what its worker left behind.
constexpr int64_t kGuardEndNs = 15 * kNsPerSecond;
// A guard waits two seconds for its worker's threads to stop.
constexpr int64_t kParkNs = 5 * kNsPerSecond;

// Resident bytes of a process, 0 if it cannot be read.
int64_t resident_bytes_of(pid_t pid) {
  const UniqueFd fd(::open(fmt::format("/proc/{}/statm", pid).c_str(), O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t got = fd ? ::read(fd.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return 0;
  text[got] = '\0';
  const char* space = text;
  while (*space != '\0' && *space != ' ') ++space;
  return std::strtoll(space, nullptr, 10) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

int64_t ChildProcess::resident_bytes() const { return alive() ? resident_bytes_of(pid_) : 0; }

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  ChildProcess child;
  child.options_ = options;
  ASSAY_TRY(auto pair, MessageChannel::create_pair());
  SubprocessOptions process;
  process.argv = {options.program, options.role};
  process.env = options.environment;
  process.stdin_to = Redirect::null();
  process.stdout_to = Redirect::pipe();
  process.stderr_to = Redirect::pipe();
  process.extra_fds = {{process::kChannelFd, pair.second.get()}};
  UniqueFd guard_end;
  if (options.guard != ChildOptions::Guard::none) {
    ASSAY_TRY(auto guard, MessageChannel::create_pair());
    child.guard_ = std::move(guard.first);
    guard_end = std::move(guard.second);
    process.extra_fds.push_back({process::kGuardFd, guard_end.get()});
  }
  UniqueFd pulse_end, question_end;
  if (options.pulses) {
    ASSAY_TRY(auto pulses, PulseReceiver::create_pair());
    ASSAY_TRY(auto questions, PulseReceiver::create_pair());
    child.pulses_ = std::move(pulses.first);
    child.questions_ = std::move(questions.first);
    pulse_end = std::move(pulses.second);
    question_end = std::move(questions.second);
    process.extra_fds.push_back({process::kPulseFd, pulse_end.get()});
    process.extra_fds.push_back({process::kQuestionFd, question_end.get()});
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

// The next of what the guard tells.
template <class Told>
Result<Told> ChildProcess::hear_guard(int64_t deadline_ns) {
  ASSAY_TRY(Message message, guard_->receive(deadline_ns));
  return process::Codec<Told>::read(std::move(message.json),
                                    process::Files(std::move(message.fds)));
}

Status ChildProcess::meet_guard() {
  if (!guard_) return {};
  const int64_t deadline = monotonic_ns() + kGuardStartNs;
  const bool confining = options_.guard == ChildOptions::Guard::confining;
  Status met = guard_->send(process::Codec<process::GuardBegins>::write({confining}), {}, deadline);
  if (met) {
    auto stands = hear_guard<process::GuardStands>(deadline);
    if (!stands) {
      met = fail(stands.error());
    } else if (!stands->error.empty()) {
      met = fail(ErrorCode::machine, "{}", stands->error);
    } else {
      pid_ = stands->worker;
      auto files = stands->files.take();
      if (!files.empty())
        files_ = ProcessFiles{std::move(files[0]), std::move(files[1]), std::move(files[2])};
    }
  }
  if (met) return {};
  drain();
  return fail(ErrorCode::machine, "a guard of a {} does not start: {}; it printed: {}",
              options_.role, met.error().message, sanitize(output_));
}

// How it ended, if it does within this time. A guard tells once all that it left behind has ended.
Result<ExitStatus> ChildProcess::wait_for_end(int64_t timeout_ns) {
  if (!guard_) return process_->wait(timeout_ns);
  const auto last = last_words_ ? Result<process::GuardTells>(*last_words_)
                                : hear_guard<process::GuardTells>(monotonic_ns() + timeout_ns);
  if (!last && last.error().code == ErrorCode::busy) return ExitStatus{};
  if (!last || !last->status) return process_->wait(timeout_ns);  // Somebody killed the guard.
  const int status = *last->status;
  return WIFSIGNALED(status) ? ExitStatus{ExitStatus::Kind::signaled, 0, WTERMSIG(status)}
                             : ExitStatus{ExitStatus::Kind::exited, WEXITSTATUS(status), 0};
}

void ChildProcess::stop() {
  if (!process_ || process_->pid() < 0) return;
  if (guard_) {
    guard_->close();
    (void)process_->wait(kGuardEndNs);
  }
  (void)process_->terminate(0);
}

bool ChildProcess::park() {
  if (!alive() || !guard_) return false;
  if (parked_at_) return true;
  const int64_t deadline = monotonic_ns() + kParkNs;
  using process::GuardStops, process::GuardTells;
  if (!guard_->send(process::Codec<GuardStops>::write({true}), {}, deadline)) return false;
  const auto told = hear_guard<GuardTells>(deadline);
  if (told && !told->stopped) {
    last_words_ = *told;
    return true;  // It has ended, as the next call finds.
  }
  if (!told || !*told->stopped) return false;
  parked_at_ = read_settled_clocks();
  return true;
}

// A thread is said to have stopped a moment before it leaves its core; until then its time is as
// old as its last tick, and what it took since would seem to be taken while it stands still.
ClockReading ChildProcess::read_settled_clocks() const {
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

void ChildProcess::go_on() {
  if (!parked_at_ || !alive()) return;
  const ClockReading now = read_clocks();
  if (now.cpu_ns >= 0 && parked_at_->cpu_ns >= 0)
    cpu_while_parked_ns_ = now.cpu_ns - parked_at_->cpu_ns;
  parked_at_.reset();
  (void)guard_->send(process::Codec<process::GuardStops>::write({false}), {},
                     monotonic_ns() + kParkNs);
}

ClockReading ChildProcess::read_clocks() const {
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

// Of what is told; false where it is more than anybody has to tell.
bool ChildProcess::hear_pulses() {
  constexpr size_t kMost = 4096;
  while (moments_.size() < kMost) {
    const auto pulse = pulses_->next();
    if (!pulse) return true;
    moments_.push_back({*pulse, read_clocks()});
  }
  return false;
}

void ChildProcess::hear_moments() {
  if (!pulses_) return;
  // Who asks waits: whatever lies there of what it told, it has told before.
  for (auto question = questions_->next(); question; question = questions_->next()) {
    if (!hear_pulses()) return;
    Moment& moment = moments_.emplace_back(Moment{*question, read_clocks()});
    const bool is_awake = question->what == looked_for_;
    if (look_ && is_awake) look_();
    moment.thread_ns =
        thread_.processor_time(pid_, is_awake ? WaitingThread::Of::now : WaitingThread::Of::asleep);
    moment.answer = answers_();
    moment.answered_ns = monotonic_ns();
    questions_->answer(moment.answer);
  }
  (void)hear_pulses();
}

void ChildProcess::begin_to_end() {
  if (guard_)
    guard_->close();
  else if (channel_)
    channel_->close();
}

void ChildProcess::drain() {
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

Death ChildProcess::die(Death::Kind kind, double limit_seconds, std::string detail) {
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
  questions_.reset();
  parked_at_.reset();
  process_.reset();
  return death;
}

Death ChildProcess::dismiss(std::string detail) {
  return death_ ? *death_ : die(Death::Kind::broke_protocol, 0, std::move(detail));
}

Result<std::vector<std::byte>> ChildProcess::read_memory(uint64_t address, size_t bytes) const {
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

bool ChildProcess::remember_code() {
  auto code = files_ && CodePages::may_watch(pid_) ? CodePages::remember(*files_)
                                                   : fail(ErrorCode::machine, "nobody may look");
  if (code) code_ = std::move(*code);
  return code_.has_value();
}

std::string ChildProcess::find_changed_code() {
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

void ChildProcess::post_message(std::string_view what, Json fields, std::span<const int> files,
                                double timeout_seconds) {
  Pending& pending = pending_.emplace();
  if (death_) {
    pending.failed = *death_;
    return;
  }
  hear_moments();
  moments_.clear();
  go_on();
  pending.ticket = tickets_();
  pending.timeout_seconds = timeout_seconds;
  pending.deadline_ns = monotonic_ns() + static_cast<int64_t>(timeout_seconds * 1e9);
  const Json request = process::write_request(what, pending.ticket, std::move(fields));
  if (auto sent = channel_->send(request, files, pending.deadline_ns); !sent) {
    const bool late = sent.error().code == ErrorCode::busy;
    pending.failed = die(late ? Death::Kind::timed_out : Death::Kind::crashed, timeout_seconds,
                         sent.error().message);
  }
}

bool ChildProcess::is_told_soon() const {
  return wakes_for_moments_ && !moments_.empty() && moments_.back().pulse.what == awake_after_;
}

void ChildProcess::watch(Watched& watched) {
  if (!alive()) {
    watched.has_ended = true;
    return;
  }
  watched.others_run = watched.others_run && options_.lets_others_run;
  watched.comes_soon = watched.comes_soon || is_told_soon();
  for (const int fd : {channel_->fd(), process_->stdout_pipe().get(), process_->stderr_pipe().get(),
                       options_.cancel_fd, end_fd()})
    watched.fds.push_back({fd, POLLIN, 0});
  if (questions_) watched.fds.push_back({questions_->fd(), POLLIN, 0});
  if (pulses_ && wakes_for_moments_) watched.fds.push_back({pulses_->fd(), POLLIN, 0});
  watched.deadline_ns = std::min(watched.deadline_ns, pending_->deadline_ns);
}

std::optional<CallResult<process::Reply>> ChildProcess::take_reply() {
  std::optional<CallResult<process::Reply>> reply;
  if (pending_->failed)
    reply = tl::unexpected<CallFailure>(std::move(*pending_->failed));
  else
    reply = look_for_reply();
  if (reply) pending_.reset();
  return reply;
}

std::optional<CallResult<process::Reply>> ChildProcess::look_for_reply() {
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
      auto reply = process::read_reply(std::move(*message), pending_->ticket);
      if (!reply) return death(Death::Kind::broke_protocol, std::move(reply).error().message);
      if (*reply) return std::move(**reply);
      Error failure = std::move(*reply).error();
      // Nothing more can be done with the GPU in that process.
      if (failure.code == ErrorCode::device_lost)
        die(Death::Kind::crashed, timeout_seconds, failure.message);
      return tl::unexpected<CallFailure>(std::move(failure));
    }
    if (message.error().code == ErrorCode::failed) return death(Death::Kind::crashed, "");
    if (message.error().code != ErrorCode::busy)
      return death(Death::Kind::broke_protocol, message.error().message);
  }
  // Its own children may hold the channel open beyond its end.
  else if ((now[2].revents & (POLLIN | POLLHUP)) != 0)
    return death(Death::Kind::crashed, "");
  if (options_.memory_limit_bytes > 0 && resident_bytes_of(pid_) > options_.memory_limit_bytes)
    return death(Death::Kind::out_of_memory, "");
  if (monotonic_ns() >= pending_->deadline_ns) return death(Death::Kind::timed_out, "");
  return std::nullopt;
}

}  // namespace assay::sweep
