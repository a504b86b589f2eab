#include "assay/load/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "assay/base/clock.h"
#include "assay/base/text.h"

namespace assay::load {
namespace {

constexpr double kLongest = 60, kFirst = 0.5, kMost = 8;  // Seconds.

}  // namespace

std::optional<std::int64_t> retry_delay_ns(int status, std::string_view retry_after, int sent) {
  if (status != 429 && status != 503) return std::nullopt;
  double seconds = std::min(kMost, std::ldexp(kFirst, std::min(sent, 10)));
  const std::string_view text = trim(retry_after);
  double told = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), told);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && told >= 0) seconds = std::min(told, kLongest);
  return static_cast<std::int64_t>(seconds * kNsPerSecond);
}

}  // namespace assay::load
