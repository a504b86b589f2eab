#pragma once

// Two kernels each at the clock that a GPU gives it alone. In rounds both run at one clock: where
// the GPU is at its power cap, the frugal one pays for the hungry one (docs/method.md).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// One kernel over and over, back to back, for some seconds.
struct ClockBlock {
  std::string id;  // KernelOutcome::id.
  std::int64_t launches = 0;
  double seconds = 0;  // Of the launches.
  double joules = 0;   // Of the GPU from before them until behind them; 0: not told.
  double sm_mhz = 0;   // Median; 0: not told.
  double capped = 0;   // Share of the samples in which the power cap held the GPU back.
  bool operator==(const ClockBlock&) const = default;
};

struct OwnClock {
  std::string candidate, other;
  std::vector<ClockBlock> blocks;  // In the order in which they ran: candidate, other, other,
                                   // candidate.
  bool operator==(const OwnClock&) const = default;

  // Over all blocks of that kernel, per launch; nothing where no block tells it.
  std::optional<double> microseconds(std::string_view id) const;
  std::optional<double> joules(std::string_view id) const;
  // How many times as fast the candidate is as the other; nothing where either did not run.
  std::optional<double> ratio() const;
};

}  // namespace assay
