#pragma once

// A GPU's state while kernels were timed, read aside by a process that launched nothing.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct Spread {
  double low = 0, median = 0, high = 0;
  bool operator==(const Spread&) const = default;
};

// A process of somebody else.
struct GpuStranger {
  int pid = 0;
  std::uint64_t memory_bytes = 0;
  bool operator==(const GpuStranger&) const = default;
};

// What the GPU did not tell is absent.
struct GpuWindow {
  std::string from, until;  // UTC.
  int samples = 0;
  std::string unwatched;  // Why there are none; empty where there are some.
  std::optional<Spread> sm_mhz, memory_mhz, watts, celsius;
  double limit_watts = 0, most_sm_mhz = 0, joules = 0;  // 0: not told.
  std::map<std::string, double> throttled;              // Reason -> share of the samples.
  std::vector<GpuStranger> strangers;

  bool operator==(const GpuWindow&) const = default;
};

}  // namespace assay
