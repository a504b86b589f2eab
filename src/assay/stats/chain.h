#pragma once

// From the burst times of one process in a chain to one number per pair. A link of a chain holds a
// kernel between two of ours; what links take without it is measured in the same rounds.

#include <optional>
#include <span>

#include "assay/stats/paired.h"

namespace assay::stats {

// The share of a bare link's time that a kernel has to add to it, or the link hides it.
inline constexpr double kLeastShareOfLink = 0.5;

// Location of a kernel's own time in a chain: the trimmed mean of its links less that of bare ones,
// over the rounds in which both were clean. None without such a round.
struct ChainTime {
  double ns = 0;    // Per launch; may be 0 or less.
  double link = 0;  // Of a bare link.
  bool is_launch_bound() const { return ns < kLeastShareOfLink * link; }
};
std::optional<ChainTime> chain_time(std::span<const Burst> kernel, std::span<const Burst> bare,
                                    double trim_fraction = kTrimFraction);

// log[(tm T_other - tm T_0) / (tm T_candidate - tm T_0)], tm the trimmed mean over the rounds in
// which all three bursts were clean. All spans hold times per link, one entry per round. No mean
// where too few rounds were clean, or where either kernel is launch bound.
ProcessMean chain_mean(std::span<const Burst> candidate, std::span<const Burst> other,
                       std::span<const Burst> bare, const PairedOptions& options = {});

}  // namespace assay::stats
