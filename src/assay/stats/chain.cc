#include "assay/stats/chain.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::stats {
namespace {

bool counts(const Burst& burst) { return burst.clean && std::isfinite(burst.ns) && burst.ns > 0; }

}  // namespace

std::optional<ChainTime> chain_time(std::span<const Burst> kernel, std::span<const Burst> bare,
                                    double trim_fraction) {
  std::vector<double> with, without;
  for (std::size_t i = 0; i < std::min(kernel.size(), bare.size()); ++i) {
    if (!counts(kernel[i]) || !counts(bare[i])) continue;
    with.push_back(kernel[i].ns);
    without.push_back(bare[i].ns);
  }
  if (with.empty()) return std::nullopt;
  const double link = trimmed_mean(without, trim_fraction);
  return ChainTime{trimmed_mean(with, trim_fraction) - link, link};
}

ProcessMean chain_mean(std::span<const Burst> candidate, std::span<const Burst> other,
                       std::span<const Burst> bare, const PairedOptions& options) {
  const std::size_t rounds = std::min({candidate.size(), other.size(), bare.size()});
  ProcessMean result;
  result.rounds = static_cast<int>(rounds);
  std::vector<double> one, two, none;
  for (std::size_t i = 0; i < rounds; ++i) {
    if (!counts(candidate[i]) || !counts(other[i]) || !counts(bare[i])) continue;
    one.push_back(candidate[i].ns);
    two.push_back(other[i].ns);
    none.push_back(bare[i].ns);
  }
  result.clean_rounds = static_cast<int>(one.size());
  if (one.empty() ||
      static_cast<double>(one.size()) < options.min_clean_share * static_cast<double>(rounds))
    return result;
  const double link = trimmed_mean(none, options.trim_fraction);
  const ChainTime mine{trimmed_mean(one, options.trim_fraction) - link, link};
  const ChainTime theirs{trimmed_mean(two, options.trim_fraction) - link, link};
  if (mine.is_launch_bound() || theirs.is_launch_bound()) return result;
  result.log_ratio = std::log(theirs.ns / mine.ns);
  // What one round does to the logarithm, to first order.
  std::vector<double> steps;
  steps.reserve(one.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    steps.push_back((two[i] - none[i]) / theirs.ns - (one[i] - none[i]) / mine.ns);
  const double error = trimmed_standard_error(steps, options.trim_fraction);
  result.standard_error = std::isfinite(error) ? error : 0;
  return result;
}

}  // namespace assay::stats
