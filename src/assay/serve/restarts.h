#pragma once

// When a program that ended is started again: after a growing pause, and not for ever.

#include <algorithm>
#include <cstdint>

#include "assay/base/clock.h"

namespace assay::serve {

class Restarts {
 public:
  // It ended, or never came up. True while it is to be started again, at retry_ns().
  bool ended(std::int64_t now_ns) {
    if (ready_ns_ != 0 && now_ns - ready_ns_ >= kSteadyNs) vain_ = 0;
    ready_ns_ = 0;
    retry_ns_ = now_ns + std::min(kLongestPauseNs, kFirstPauseNs << std::min(vain_, 10));
    return ++vain_ < kMostInARow;
  }
  void ready(std::int64_t now_ns) { ready_ns_ = now_ns; }
  std::int64_t retry_ns() const { return retry_ns_; }
  int in_a_row() const { return vain_; }

 private:
  static constexpr int kMostInARow = 5;
  static constexpr std::int64_t kFirstPauseNs = kNsPerSecond / 4;
  static constexpr std::int64_t kLongestPauseNs = 8 * kNsPerSecond;
  // Up for so long, earlier ends are forgotten.
  static constexpr std::int64_t kSteadyNs = 60 * kNsPerSecond;

  int vain_ = 0;
  std::int64_t ready_ns_ = 0, retry_ns_ = 0;
};

}  // namespace assay::serve
