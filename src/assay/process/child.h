#pragma once

// One process of ours at the other end of a channel, as stages know it: a worker or the referee. It
// may run a user's code, so it may crash, hang, eat memory, print, lie or exit at any moment; each
// of these is a value. child_process.h is the real one.

#include <cstdint>
#include <functional>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/base/pulses.h"
#include "assay/base/result.h"
#include "assay/process/message.h"

namespace assay::sweep {

// What the clocks said: the processor time of all of its threads, those that ended included, at
// some moment between the two.
struct ClockReading {
  int64_t from_ns = 0, until_ns = 0;  // Of monotonic_ns().
  int64_t cpu_ns = -1;                // Below 0: it cannot be read.
};

// A moment that it told of, and what the clocks said when we heard.
struct Moment {
  Pulse pulse;
  ClockReading heard;
  uint64_t answer = 0;      // To one that asks: a number that nobody knew before.
  int64_t answered_ns = 0;  // Just before it was given; 0: nothing was asked.
  // Processor time of the child's first thread then, as WaitingThread reads it; -1: unknown.
  int64_t thread_ns = -1;
};

// Why a child is no more.
struct Death {
  enum class Kind { crashed, timed_out, out_of_memory, broke_protocol };
  Kind kind = Kind::crashed;
  int signal = 0;
  int exit_code = 0;
  double limit_seconds = 0;  // For timed_out.
  int64_t limit_bytes = 0;   // For out_of_memory.
  std::string output_tail;   // Last of what it printed; untrusted.
  std::string detail;        // For broke_protocol.
};

// A call's failure: the child answered with an error and lives on (but for device_lost, after which
// it ends), or it died.
using CallFailure = std::variant<Error, Death>;
template <class T>
using CallResult = tl::expected<T, CallFailure>;

bool is_interruption(const CallFailure& failure);
Error as_error(const CallFailure& failure, std::string_view doing);

class Child {
 public:
  virtual ~Child() = default;

  struct Answered {
    size_t which = 0;  // Of those that were given.
    CallResult<process::Reply> reply;
  };

  // Asks (process/messages.h), and waits for the answer. After a Death every call fails the same
  // way. Who answers what no process of ours answers is dead: it broke the protocol. Each call
  // carries a ticket, a random number that its answer must repeat: what candidate code writes into
  // the channel by guesswork is no answer to anything.
  template <class Request>
  CallResult<typename Request::Answer> call(const Request& request, double timeout_seconds) {
    post(request, timeout_seconds);
    Child* const posted[] = {this};
    return read(request, wait_for_any(posted).reply);
  }

  // The same in three steps, for children that work side by side: post() to each, then
  // wait_for_any() until it has the replies of all, each of which is read() as the answer to what
  // was asked. One call at a time is under way in one child.
  template <class Request>
  void post(const Request& request, double timeout_seconds) {
    std::span<const int> files;
    if constexpr (process::HasFiles<Request>) files = request.files.numbers();
    post_message(Request::kName, process::Codec<Request>::write(request), files, timeout_seconds);
  }
  static Answered wait_for_any(std::span<Child* const> posted);
  template <class Request>
  CallResult<typename Request::Answer> read(const Request& request,
                                            CallResult<process::Reply> reply);

  // Notes of the last answer, for the user.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  // Its end begins, and whoever destroys it waits for less: of several at once, each of which takes
  // its time to leave a GPU.
  virtual void begin_to_end() = 0;

  // It answered with what no process of ours answers, or must not be used again: it ends now.
  virtual Death dismiss(std::string detail) = 0;

  // Freezes all of its threads, until go_on(), or until something is posted to it. False: they did
  // not stop. (One that has ended stands still; the next call says how it ended.)
  virtual bool park() = 0;
  virtual void go_on() = 0;
  virtual bool parked() const = 0;
  // Processor time that it took while it was frozen, since it was started: none, or somebody woke
  // it.
  virtual int64_t cpu_while_parked_ns() const = 0;

  virtual ClockReading read_clocks() const = 0;
  // Moments of the last call. Those with a question are heard of at once. wake: all are, at the
  // price of a core that has something else to do then; otherwise ahead of the next question, or
  // when the answer comes. awake_after: behind this moment another comes soon, and is waited for
  // awake.
  virtual std::vector<Moment> take_moments() = 0;
  virtual void wake_for_moments(bool wake, uint8_t awake_after) = 0;

  // Called when such a moment is heard of; it may look at the child, and asks it nothing. Whoever
  // asks with that one waits awake, with any other asleep.
  virtual void when_told(uint8_t moment, std::function<void()> look) = 0;

  virtual bool alive() const = 0;
  virtual pid_t pid() const = 0;  // Its own, not its guard's; -1: it is no more.
  // Of its memory; 0: nobody can look, or it is no more.
  virtual int64_t resident_bytes() const = 0;

  // Whether its memory can be read from here: where its guard may open it. What it holds at
  // `address`; an error where nothing is mapped, or the child is no more.
  virtual bool shows_memory() const = 0;
  virtual Result<std::vector<std::byte>> read_memory(uint64_t address, size_t bytes) const = 0;

  // Of a guarded child that has loaded no candidate yet. False where the system did not let its
  // guard open its memory: then nobody can look.
  virtual bool remember_code() = 0;
  // What candidates have changed since in the code that times them (code_pages.h), to follow "it".
  // Empty where nothing has, nobody can look, or the child is no more.
  // Some of the looks, drawn by numbers that no worker has seen, compare every byte.
  virtual std::string find_changed_code() = 0;

 protected:
  virtual void post_message(std::string_view what, Json fields, std::span<const int> files,
                            double timeout_seconds) = 0;
  // What became of the call, once that is known; its limits are looked at, too.
  virtual std::optional<CallResult<process::Reply>> take_reply() = 0;
  // What is waited for until something happens to one of several.
  struct Watched {
    std::vector<pollfd> fds;
    int64_t deadline_ns = 0;  // The first.
    bool others_run = true;   // While we wait (base/turns.h).
    bool comes_soon = false;  // It is waited for awake.
    bool has_ended = false;   // Nothing is waited for.
  };
  virtual void watch(Watched& watched) = 0;

 private:
  std::vector<std::string> notes_;
};

template <class Request>
CallResult<typename Request::Answer> Child::read(const Request& request,
                                                 CallResult<process::Reply> reply) {
  using Answer = typename Request::Answer;
  if (!reply) return tl::unexpected(std::move(reply).error());
  notes_ = std::move(reply->notes);
  auto answer = process::Codec<Answer>::read(std::move(reply->fields), std::move(reply->files));
  if constexpr (requires(const Answer& told) { request.check(told); }) {
    if (answer)
      if (const Status fits = request.check(*answer); !fits) answer = fail(fits.error());
  }
  if (!answer) return tl::unexpected<CallFailure>(dismiss(std::move(answer).error().message));
  return std::move(*answer);
}

// For errors of our own processes, which no candidate can have caused.
template <class Request>
Result<typename Request::Answer> ask(Child& child, const Request& request, double timeout_seconds,
                                     std::string_view doing) {
  auto answer = child.call(request, timeout_seconds);
  if (!answer) return fail(as_error(answer.error(), doing));
  return std::move(*answer);
}

}  // namespace assay::sweep
