#pragma once

// What a run does at a time that it knows beforehand.

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace assay::load {

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class Alarm {
  turn,
  cancel,
  timeout,
  retry,
  body_end,
  stop_sending,
  stop_waiting,
  tick,
  paced,
  rested
};

struct Timer {
  std::int64_t at_ns = 0;
  Alarm alarm = Alarm::tick;
  std::int64_t number = 0;  // Of a request, or of a pending turn.
  bool operator>(const Timer& other) const { return at_ns > other.at_ns; }
};

class Timers {
 public:
  // True: it is the first of all.
  bool add(const Timer& timer) {
    if (timer.at_ns == kNever) return false;
    queue_.push(timer);
    return queue_.top().at_ns == timer.at_ns;
  }
  std::int64_t next_ns() const { return queue_.empty() ? kNever : queue_.top().at_ns; }
  // The first, if it is due.
  bool take(std::int64_t now_ns, Timer& timer) {
    if (next_ns() > now_ns) return false;
    timer = queue_.top();
    queue_.pop();
    return true;
  }

 private:
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> queue_;
};

}  // namespace assay::load
