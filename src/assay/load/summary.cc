#include "assay/load/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "assay/stats/robust.h"

namespace assay::load {

double quantile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(rank);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (rank - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

std::optional<Summary> summarise(std::vector<double> values, std::span<const double> percents) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  Summary summary;
  summary.n = static_cast<std::int64_t>(values.size());
  summary.mean = stats::mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.std = std::sqrt(squares / static_cast<double>(values.size()));
  summary.min = values.front();
  summary.max = values.back();
  summary.median = quantile(values, 0.5);
  summary.p90 = quantile(values, 0.9);
  summary.p95 = quantile(values, 0.95);
  summary.p99 = quantile(values, 0.99);
  for (const double percent : percents)
    summary.more.emplace_back(fmt::format("p{:g}", percent), quantile(values, percent / 100));
  return summary;
}

std::optional<double> Summary::find(std::string_view statistic) const {
  const std::array<std::pair<std::string_view, double>, 9> all = {{{"mean", mean},
                                                                   {"median", median},
                                                                   {"p50", median},
                                                                   {"std", std},
                                                                   {"min", min},
                                                                   {"max", max},
                                                                   {"p90", p90},
                                                                   {"p95", p95},
                                                                   {"p99", p99}}};
  for (const auto& [name, value] : all)
    if (name == statistic) return value;
  for (const auto& [name, value] : more)
    if (name == statistic) return value;
  return std::nullopt;
}

bool Summary::is_thin(std::string_view statistic) const {
  if (statistic == "median" || statistic == "p50") return n < 200;
  if (statistic == "p90" || statistic == "p95") return n < 500;
  return statistic == "p99" && n < 1000;
}

}  // namespace assay::load
