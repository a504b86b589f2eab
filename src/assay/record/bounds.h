#pragma once

// What spoiled rounds still show. Where too few rounds of a pair were clean, all count, with what
// disturbance can explain at most taken off. Pure: found when a run ends, and again by compare.

#include <optional>
#include <string_view>

#include "assay/record/record.h"

namespace assay {

// Since these rules a record says that it was judged by them (RunOptions::rules).
inline constexpr int kRulesOfBounds = 3;
// Since these, two kernels of a user's have such a word between them.
inline constexpr int kRulesOfBoundsBetweenUsers = 4;
// Since these, a user's kernel has a verdict where no stock kernel takes the problem (rivals_of).
inline constexpr int kRulesWithoutStock = 5;
// Since these, a user's kernel that something is held against (doubts.h) is no problem's winner.
inline constexpr int kRulesOfWinners = 6;

// `slower` or `faster` with one end instead of an interval (stats::Verdict::is_bound), where the
// difference is beyond doubt; none otherwise. Of each round the slower side counts with the
// processor time that its process took at least, the other with what it took at most. The most is
// by a clock outside of the process. The least may be by its own word, which can only make itself
// slower. Half of the difference is left to neighbours on a core or on the memory, which add to
// processor time itself (kNeighbours in bounds.cc).
//
// A kernel of a user's is the faster side only against another one of the user's, and no kernel of
// ours is faster than a stock one by such a word: who spoils rounds gains nothing by it.
std::optional<stats::Verdict> bounded_verdict(const ProblemRecord& problem,
                                              const Confirmation& confirmation,
                                              const RunOptions& options, std::string_view candidate,
                                              std::string_view other);

// The time per launch of one burst where nothing was clean, in nanoseconds: what its process ran
// for, if it had one thread; what passed outside otherwise; by its own clock if nothing else is
// known. 0 where there was no burst.
double disturbed_launch_ns(const KernelSamples& samples, std::size_t round, int threads);

}  // namespace assay
