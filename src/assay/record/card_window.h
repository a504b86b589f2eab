#pragma once

// A card's state while kernels were timed, read aside by a process that launched nothing.

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
struct CardStranger {
  int pid = 0;
  std::uint64_t memory_bytes = 0;
  bool operator==(const CardStranger&) const = default;
};

// What the card did not tell is absent.
struct CardWindow {
  std::string from, until;  // UTC.
  int samples = 0;
  std::string unwatched;  // Why there are none; empty where there are some.
  std::optional<Spread> sm_mhz, memory_mhz, watts, celsius;
  double limit_watts = 0, most_sm_mhz = 0, joules = 0;  // 0: not told.
  std::map<std::string, double> throttled;              // Reason -> share of the samples.
  std::vector<CardStranger> strangers;

  bool operator==(const CardWindow&) const = default;
};

}  // namespace assay
