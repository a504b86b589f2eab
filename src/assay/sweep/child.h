#pragma once

// One process of ours at the other end of a channel: a worker or the referee. It may run a user's
// code, so it may crash, hang, eat memory, print or exit at any moment; each of these is a value.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/keyed_random.h"
#include "assay/base/message_channel.h"
#include "assay/base/pulses.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/sweep/code_pages.h"

namespace assay::sweep {

struct ChildOptions {
  std::string role;                        // "worker" or "referee": argv[1].
  std::string program = "/proc/self/exe";  // Ourselves.
  std::vector<std::string> environment;
  int64_t memory_limit_bytes = 0;  // Resident; 0: no limit.
  int cancel_fd = -1;              // Readable: calls end with ErrorCode::interrupted.
  // One task alone talks to it, and others may run while it waits for answers (base/turns.h).
  bool lets_others_run = false;
  // Who stands between us and it (guard.h). A guarded child's own children end with it.
  enum class Guard { none, present, confining } guard = Guard::none;
  bool pulses = false;  // It tells of moments at kPulseFd (protocol.h).
};

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
  static Result<Child> start(const ChildOptions& options);
  Child(Child&&) = default;
  Child& operator=(Child&&) = delete;
  ~Child() { stop(); }

  // Sends {"do": what, ...} and waits for the answer. After a Death every call fails the same way.
  // Each call carries a ticket, a random number that its answer must repeat: what candidate code
  // writes into the channel by guesswork is no answer to anything.
  CallResult<Message> call(const Json& request, double timeout_seconds,
                           std::span<const int> fds = {});

  // The same in two steps, for children that work side by side: post() to each, then wait_for_any()
  // until it has the answers of all. One call at a time is under way in one child.
  void post(const Json& request, double timeout_seconds, std::span<const int> fds = {});
  struct Answered;
  static Answered wait_for_any(std::span<Child* const> posted);

  // Its end begins, and whoever destroys it waits for less: of several at once, each of which takes
  // its time to leave a card.
  void begin_to_end();

  // It answered with what no process of ours answers, or must not be used again: it ends now.
  Death dismiss(std::string detail);

  // Freezes all of its threads, until go_on(), or until something is posted to it. False: they did
  // not stop. (One that has ended stands still; the next call says how it ended.)
  bool park();
  void go_on();
  bool parked() const { return parked_at_.has_value(); }
  // Processor time that it took while it was frozen, since it was started: none, or somebody woke
  // it.
  int64_t cpu_while_parked_ns() const { return cpu_while_parked_ns_; }

  ClockReading read_clocks() const;
  // Moments of the last call. wake: they are heard of at once, at the price of a core that has
  // something else to do then; otherwise when the answer comes. awake_after: behind this moment
  // another comes soon, and is waited for awake.
  std::vector<Moment> take_moments() { return std::exchange(moments_, {}); }
  void wake_for_moments(bool wake, uint8_t awake_after) {
    wakes_for_moments_ = wake;
    awake_after_ = awake_after;
  }

  // Called when such a moment is heard of; it may look at the child, and asks it nothing.
  void when_told(uint8_t moment, std::function<void()> look) {
    looked_for_ = moment;
    look_ = std::move(look);
  }

  bool alive() const { return !death_.has_value() && process_.has_value(); }
  pid_t pid() const { return process_ ? pid_ : -1; }  // Its own, not its guard's.

  // Whether its memory can be read from here: where its guard may open it. What it holds at
  // `address`; an error where nothing is mapped, or the child is no more.
  bool shows_memory() const { return alive() && files_.has_value(); }
  Result<std::vector<std::byte>> read_memory(uint64_t address, size_t bytes) const;

  // Of a guarded child that has loaded no candidate yet. False where the system did not let its
  // guard open its memory: then nobody can look.
  bool remember_code();
  // What candidates have changed since in the code that times them (code_pages.h), to follow "it".
  // Empty where nothing has, nobody can look, or the child is no more.
  // Some of the looks, drawn by numbers that no worker has seen, compare every byte.
  std::string find_changed_code();

 private:
  ClockReading read_settled_clocks() const;
  Child() = default;
  Status meet_guard();
  void hear_moments();
  bool is_told_soon() const;
  void stop();
  Result<ExitStatus> wait_for_end(int64_t timeout_ns);
  int end_fd() const { return guard_ ? guard_->fd() : process_->pid_fd(); }  // Readable at its end.
  Death die(Death::Kind kind, double limit_seconds, std::string detail);
  void drain();
  struct Pending {
    uint64_t ticket = 0;
    double timeout_seconds = 0;
    int64_t deadline_ns = 0;
    std::optional<CallFailure> failed;  // It could not even be sent.
  };
  static void wait_until_something_happens(std::span<Child* const> posted);
  std::optional<CallResult<Message>> take_answer();
  std::optional<CallResult<Message>> look_for_answer();

  ChildOptions options_;
  std::optional<Subprocess> process_;
  std::optional<MessageChannel> channel_, guard_;
  std::optional<PulseReceiver> pulses_;
  std::vector<Moment> moments_;
  bool wakes_for_moments_ = false;
  uint8_t awake_after_ = 0, looked_for_ = 0;
  std::function<void()> look_;
  std::optional<ClockReading> parked_at_;
  std::optional<Message> last_words_;  // Of the guard, at the end, where it was asked to stop it.
  int64_t cpu_while_parked_ns_ = 0;
  pid_t pid_ = -1;
  std::optional<ProcessFiles> files_;  // Of a guarded child, where its guard may open them.
  std::optional<CodePages> code_;
  std::optional<Death> death_;
  std::optional<Pending> pending_;
  std::string output_;  // Tail of stdout and stderr.
  KeyedRandom looks_ = KeyedRandom::from_system();
  KeyedRandom tickets_ = KeyedRandom::from_system();
};

struct Child::Answered {
  size_t which = 0;  // Of those that were given.
  CallResult<Message> answer;
};

}  // namespace assay::sweep
