#include "assay/base/clock.h"

#include <time.h>

#include <fmt/format.h>

namespace assay {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * kNsPerSecond + now.tv_nsec;
}

// Servers log thousands of lines in a second: its text is made once.
std::string utc_now_iso8601() {
  thread_local time_t told = -1;
  thread_local std::string text;
  const time_t now = time(nullptr);
  if (now == told) return text;
  tm parts{};
  gmtime_r(&now, &parts);
  text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
  told = now;
  return text;
}

}  // namespace assay
