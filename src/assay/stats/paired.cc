#include "assay/stats/paired.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace assay::stats {
namespace {

bool usable(double ns) { return std::isfinite(ns) && ns > 0; }

using Blocks = std::map<int, std::vector<double>>;

struct Location {
  double centre = 0;
  double standard_error = 0;
};

double or_zero(double value) { return std::isfinite(value) ? value : 0; }

Location trimmed_together(std::span<const double> samples, double fraction) {
  return {trimmed_mean(samples, fraction), or_zero(trimmed_standard_error(samples, fraction))};
}

Location trimmed_in_blocks(const Blocks& blocks, std::size_t count, double fraction) {
  const double block_count = static_cast<double>(blocks.size());
  double medians = 0;
  double inverse_sizes = 0;
  std::vector<double> distances;
  distances.reserve(count);
  for (const auto& [placement, samples] : blocks) {
    const double middle = median(samples);
    medians += middle;
    inverse_sizes += 1 / static_cast<double>(samples.size());
    for (const double sample : samples) distances.push_back(sample - middle);
  }
  Location result;
  result.centre = medians / block_count + trimmed_mean(distances, fraction);
  // One round's spread, with a degree of freedom taken for each median; then the error of a mean of
  // block means.
  const double rounds = static_cast<double>(count);
  const double one_round = trimmed_standard_error(distances, fraction) * std::sqrt(rounds) *
                           std::sqrt((rounds - 1) / (rounds - block_count));
  result.standard_error = or_zero(one_round * std::sqrt(inverse_sizes) / block_count);
  return result;
}

}  // namespace

ProcessMean process_mean(std::span<const PairedRound> rounds, const PairedOptions& options) {
  Blocks blocks;
  std::vector<double> all;
  all.reserve(rounds.size());
  for (const PairedRound& round : rounds) {
    if (!round.clean || !usable(round.candidate_ns) || !usable(round.other_ns)) continue;
    const double log_ratio = std::log(round.other_ns / round.candidate_ns);
    // A ratio of two finite times can still leave the range of a double.
    if (!std::isfinite(log_ratio)) continue;
    blocks[round.placement].push_back(log_ratio);
    all.push_back(log_ratio);
  }
  ProcessMean result;
  result.rounds = static_cast<int>(rounds.size());
  result.clean_rounds = static_cast<int>(all.size());
  const double wanted = options.min_clean_share * static_cast<double>(rounds.size());
  if (all.empty() || static_cast<double>(all.size()) < wanted) return result;
  const bool by_block = blocks.size() > 1 && all.size() >= kMinRoundsPerBlock * blocks.size();
  const Location location = by_block ? trimmed_in_blocks(blocks, all.size(), options.trim_fraction)
                                     : trimmed_together(all, options.trim_fraction);
  result.log_ratio = location.centre;
  result.standard_error = location.standard_error;
  return result;
}

std::vector<PairedRound> pair_rounds(std::span<const Burst> candidate, std::span<const Burst> other,
                                     std::span<const int> placements) {
  const std::size_t count = std::min({candidate.size(), other.size(), placements.size()});
  std::vector<PairedRound> rounds(count);
  for (std::size_t i = 0; i < count; ++i) {
    rounds[i] = {.candidate_ns = candidate[i].ns,
                 .other_ns = other[i].ns,
                 .clean = candidate[i].clean && other[i].clean,
                 .placement = placements[i]};
  }
  return rounds;
}

}  // namespace assay::stats
