#pragma once

// Moments that one process tells another of. The kernel stamps each when it is told, in memory that
// neither can write: how late the other one reads it does not matter.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "assay/base/fd.h"
#include "assay/base/result.h"

namespace assay {

struct Pulse {
  uint8_t what = 0;                  // The sender's to say.
  int64_t sent_ns = 0;               // Of monotonic_ns().
  bool certain = false;              // False where somebody set the machine's clock meanwhile.
  std::vector<std::byte> told = {};  // What the sender said with it.
};

// What goes with a pulse, at most; a longer one is heard as one that says nothing (`what` is 0).
inline constexpr size_t kMostToldBytes = 4096;

// The end of who tells, and of who asks. One that has no descriptor tells nobody.
class PulseSender {
 public:
  // questions: the end of another pair. Whoever hears may hear of these at once, and of what is
  // only told when there is time for it.
  explicit PulseSender(int fd = -1, int questions = -1) : fd_(fd), questions_(questions) {}
  // A system call. It waits only where ten that were told have not been heard, and then not long.
  void send(uint8_t what, std::span<const std::byte> told = {}) const;
  // Asks, and returns the number that is answered, or one of its own if nobody is asked. awake: it
  // looks for the answer for two milliseconds before it sleeps, so that it is not woken by it, and
  // keeps its processor time up to date for others meanwhile. Errors: no answer came for ten
  // seconds, or something that is none (machine).
  enum class Wait { asleep, awake };
  Result<uint64_t> ask(uint8_t what, Wait wait, std::span<const std::byte> told = {}) const;

 private:
  int fd_, questions_;
};

class PulseReceiver {
 public:
  // And the end to hand to a child (SubprocessOptions::extra_fds).
  static Result<std::pair<PulseReceiver, UniqueFd>> create_pair();

  std::optional<Pulse> next();           // None: nothing more has been told so far.
  void answer(uint64_t number) const;    // To who asked.
  int fd() const { return end_.get(); }  // For poll().

 private:
  explicit PulseReceiver(UniqueFd end) : end_(std::move(end)) {}

  UniqueFd end_;
  std::optional<int64_t> offset_ns_;  // Of the wall clock to the monotonic one, when last looked.
};

}  // namespace assay
