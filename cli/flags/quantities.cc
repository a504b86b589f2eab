#include "cli/flags/quantities.h"

#include <array>
#include <cmath>
#include <cstdlib>

#include "assay/base/text.h"

namespace assay::cli {
namespace {

// A finite number and what follows it.
Result<std::pair<double, std::string>> number_and_unit(const std::string& text,
                                                       const std::string& flag,
                                                       std::string_view examples) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number))
    return fail(ErrorCode::invalid_input, "{}: '{}' is not a number; write {}", flag,
                sanitize(text, 80), examples);
  return std::pair(number, std::string(trim(std::string_view(end))));
}

struct Unit {
  std::string_view name;
  double scale;
};

template <size_t N>
Result<double> in_units(const std::string& text, const std::string& flag,
                        const std::array<Unit, N>& units, std::string_view examples) {
  ASSAY_TRY(const auto parsed, number_and_unit(text, flag, examples));
  for (const Unit& unit : units)
    if (parsed.second == unit.name) return parsed.first * unit.scale;
  return fail(ErrorCode::invalid_input, "{}: '{}' is not understood; write {}", flag,
              sanitize(text, 80), examples);
}

constexpr std::array<Unit, 6> kTimes = {
    {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}}};
constexpr double kKiB = 1024;
constexpr std::array<Unit, 9> kSizes = {{{"", 1},
                                         {"B", 1},
                                         {"K", kKiB},
                                         {"KiB", kKiB},
                                         {"M", kKiB* kKiB},
                                         {"MiB", kKiB* kKiB},
                                         {"G", kKiB* kKiB* kKiB},
                                         {"GiB", kKiB* kKiB* kKiB},
                                         {"TiB", kKiB* kKiB* kKiB* kKiB}}};
constexpr double kLongest = 1e7;  // Seconds: some four months.

}  // namespace

Result<double> parse_fraction(const std::string& text, const std::string& flag) {
  ASSAY_TRY(auto parsed, number_and_unit(text, flag, "1% or 0.01"));
  if (parsed.second == "%")
    parsed.first /= 100;
  else if (!parsed.second.empty())
    return fail(ErrorCode::invalid_input, "{}: '{}' is not understood; write 1% or 0.01", flag,
                sanitize(text, 80));
  if (parsed.first <= 0 || parsed.first >= 1)
    return fail(ErrorCode::invalid_input, "{}: {} is out of range; it lies between 0 and 100 %",
                flag, sanitize(text, 80));
  return parsed.first;
}

Result<double> parse_seconds(const std::string& text, const std::string& flag) {
  ASSAY_TRY(const double seconds, in_units(text, flag, kTimes, "60s, 2m or 500ms"));
  if (seconds <= 0 || seconds > kLongest)
    return fail(ErrorCode::invalid_input, "{}: {} is out of range; it must be more than 0", flag,
                sanitize(text, 80));
  return seconds;
}

Result<std::int64_t> parse_bytes(const std::string& text, const std::string& flag) {
  ASSAY_TRY(const double bytes, in_units(text, flag, kSizes, "512MiB or 4GiB"));
  if (bytes < 1 || bytes > 1e18)
    return fail(ErrorCode::invalid_input, "{}: {} is out of range; it must be more than 0", flag,
                sanitize(text, 80));
  return static_cast<std::int64_t>(bytes);
}

Result<std::pair<std::string, double>> parse_named_fraction(const std::string& text,
                                                            const std::string& flag) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail(ErrorCode::invalid_input, "{}: '{}' is not understood; write PROVIDER=5%", flag,
                sanitize(text, 80));
  ASSAY_TRY(const double fraction, parse_fraction(text.substr(equals + 1), flag));
  return std::pair(text.substr(0, equals), fraction);
}

}  // namespace assay::cli
