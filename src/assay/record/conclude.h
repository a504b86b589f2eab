#pragma once

// From samples to words, for one confirmation. sweep calls it when the last process has ended,
// compare calls it again on what the record holds: the same function, so the same words.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/record.h"
#include "assay/stats/interval.h"
#include "assay/stats/paired.h"
#include "assay/stats/verdict.h"

namespace assay {

// The one call that says a word on two confirmed kernels: from their means, and from what the
// samples hold against it beside these (doubts.h).
stats::Verdict judge_pair(const ProblemRecord& problem, const Confirmation& confirmation,
                          const RunOptions& options, std::string_view candidate,
                          std::string_view other);

// One confirmed kernel against another, from the samples of the decisive confirmation. None where
// it lacks either, or either did not get through.
std::optional<stats::Verdict> verdict_between(const ProblemRecord& problem,
                                              const RunOptions& options, std::string_view candidate,
                                              std::string_view other);

// The interval of one kernel's time per launch in microseconds, over the processes' medians. A time
// is of its run alone: ratios come from pairs. None where too few processes have one.
std::optional<stats::Interval> time_interval_us(std::span<const ProcessSamples> processes,
                                                std::string_view id, const RunOptions& options);

// A finalist that hides in a chain: in most processes it adds less to a bare link than
// stats/chain.h asks, and has no mean there.
struct LaunchBound {
  std::string id;
  double kernel_us = 0, link_us = 0;  // Medians over the processes.
};
std::vector<LaunchBound> find_launch_bound(const Confirmation& confirmation);

// Who leads a further confirmation, if one is called for: of the kernels that were `faster` than
// the leader the fastest. Empty: none was.
std::string next_leader(const Conclusion& conclusion);

// What earlier records hold in the place of Conclusion::evidence_hash.
std::string hash_samples(const Confirmation& confirmation);

// Whose best kernel a user's is held against: a stock provider's; where no stock kernel takes the
// problem, ours. Since kRulesWithoutStock (bounds.h).
KernelRole rivals_of(const ProblemRecord& problem);

// Pure. `confirmation.conclusion` is not read. Kernels that are not in the problem, or whose ending
// is not `timed`, take no part: a finalist that crashed while it was confirmed cannot win, nor
// stand for the stock kernels.
Conclusion conclude(const ProblemRecord& problem, const Confirmation& confirmation,
                    const RunOptions& options);

}  // namespace assay
