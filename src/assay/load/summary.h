#pragma once

// A distribution in ten numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::load {

struct Summary {
  std::int64_t n = 0;
  double mean = 0, median = 0, std = 0, min = 0, max = 0, p90 = 0, p95 = 0, p99 = 0;

  std::vector<std::pair<std::string, double>> more;  // Percentiles that were asked for: "p99.9".

  bool operator==(const Summary&) const = default;

  // "mean", "median" or "p50", "std", "min", "max", "p90", "p95", "p99", or one of `more`; none for
  // another word.
  std::optional<double> find(std::string_view statistic) const;
  // Whether n is too small for it to mean much: below 200, 500 and 1,000 for the median, p90 (and
  // p95) and p99.
  bool is_thin(std::string_view statistic) const;
};

// The value below which a share of sorted values lies, with linear interpolation between ranks, as
// numpy does by default. At least one value.
double quantile(const std::vector<double>& sorted, double share);

// std is the population's. None without values. percents: further percentiles, 0 to 100.
std::optional<Summary> summarise(std::vector<double> values, std::span<const double> percents = {});

}  // namespace assay::load
