#pragma once

// How this process and its machine fared while it made load: what of a run's figures could be its
// own doing.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/load/summary.h"

namespace assay::load {

inline constexpr std::int64_t kLateNs = 1'000'000;  // A send is late beyond this.
inline constexpr double kMostLateShare = 0.005;     // More make a run limited by its client.
inline constexpr double kMostLoopLagMs = 1;         // At p99.
inline constexpr double kMostCpuShare = 0.95;       // Of a core.
inline constexpr double kMostStealShare = 0.02;     // Of the machine.

struct ClientHealth {
  bool limited = false;
  std::vector<std::string> reasons;  // Sentences.
  std::int64_t sends = 0, late_sends = 0;
  std::int64_t reanchored = 0;         // How often the schedule was put off, being far behind.
  std::optional<Summary> lateness_ms;  // Handled - intended, of an open loop.
  std::optional<Summary> loop_lag_ms;  // Read - arrived.
  double cpu_s = 0, wall_s = 0, steal_s = 0, machine_s = 0;  // machine_s: of all its cores.
  bool ran_out = false;                                      // Of descriptors or ports.
  std::string governor;
};

// Fills `limited` and `reasons`.
void judge_health(ClientHealth& health);

// Processor time of this thread; stolen and all time of the machine's cores.
class HealthWatch {
 public:
  void start();
  void stop(ClientHealth& health) const;

 private:
  std::int64_t cpu_ns_ = 0, wall_ns_ = 0;
  double steal_s_ = 0, machine_s_ = 0;
};

}  // namespace assay::load
