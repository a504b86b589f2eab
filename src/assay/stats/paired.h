#pragma once

// From the burst times of one process to one number per pair of kernels. Times of two kernels are
// only ever compared within a round: x = log(t_other / t_candidate), above 0 where the candidate is
// faster.

#include <optional>
#include <span>
#include <vector>

#include "assay/stats/robust.h"

namespace assay::stats {

// One kernel's burst in one round.
struct Burst {
  double ns = 0;  // Time of the burst, or per launch: the unit only has to be the same in a pair.
  bool clean = true;  // False where the scheduler, a steal or a throttled clock spoiled it.
};

// Two bursts of one round.
struct PairedRound {
  double candidate_ns = 0;
  double other_ns = 0;
  bool clean = true;  // Both bursts were clean.
  int placement = 0;  // Which of the process's placements of buffers and panels this round used.
};

// What one process says about one pair.
struct ProcessMean {
  // Mean of log(t_other / t_candidate); none where too few rounds were clean.
  std::optional<double> log_ratio;
  // What the noise from round to round leaves in log_ratio; 0 where it cannot be told. It is shown
  // and planned with, and never becomes an interval: one process is one sample.
  double standard_error = 0;
  int rounds = 0;
  int clean_rounds = 0;
};

struct PairedOptions {
  double trim_fraction = kTrimFraction;
  double min_clean_share =
      0.5;  // Under this share of clean rounds there is no mean (docs/method.md).
};

// A round whose time is not a positive finite number counts as spoiled.
//
// Placements are blocks: every round is taken as its distance from the median of its placement, the
// trimmed mean of these distances over the whole process is added to the mean of the medians. So a
// placement that suits one kernel is neither cut off as an outlier nor weighted by how many of its
// rounds stayed clean, while one bad round is still judged against all others. Below four clean
// rounds per placement on average the medians are themselves at the mercy of one bad round, and the
// rounds are trimmed together. Both choices are simulated (PairedTest.Blocks*).
inline constexpr int kMinRoundsPerBlock = 4;
ProcessMean process_mean(std::span<const PairedRound> rounds, const PairedOptions& options = {});

// Pairs burst i of one kernel with burst i of the other; all three spans have one entry per round.
// Entries beyond the shortest span are ignored.
std::vector<PairedRound> pair_rounds(std::span<const Burst> candidate, std::span<const Burst> other,
                                     std::span<const int> placements);

}  // namespace assay::stats
