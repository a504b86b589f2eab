#pragma once

#include <cstdint>
#include <string>

namespace assay {

inline constexpr std::int64_t kNsPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNsPerMs = 1'000'000;

// Nanoseconds of CLOCK_MONOTONIC: the same clock in every process of a machine, never set back.
std::int64_t monotonic_ns();

// "2025-01-31T23:59:59Z"
std::string utc_now_iso8601();

}  // namespace assay
