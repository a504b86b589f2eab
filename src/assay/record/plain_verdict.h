#pragma once

// What the clean rounds of a confirmation say of two of its kernels, before anything is held
// against it (doubts.h).

#include <span>
#include <string_view>
#include <vector>

#include "assay/record/record.h"
#include "assay/stats/paired.h"
#include "assay/stats/verdict.h"

namespace assay {

// Since these rules a record says that it was judged by them (RunOptions::rules).
inline constexpr int kRulesOfDoubt = 2;

// Times of one launch: two kernels may have bursts of different length.
std::vector<stats::Burst> bursts_of(const KernelSamples& samples);

// What each process says about the pair: per-launch times, paired by round. A process that lacks
// either kernel gives a mean without a value.
std::vector<stats::ProcessMean> pair_means(std::span<const ProcessSamples> processes,
                                           std::string_view candidate, std::string_view other);

// Of a process that gave no mean of the two, which of them spoiled more rounds: that one's worst
// mean stands for it. Others are as they were, and all are if fewer than half of them have a mean:
// a mean that stands for several processes says nothing of what they differ by.
std::vector<stats::ProcessMean> with_worst_means(std::vector<stats::ProcessMean> means,
                                                 const Confirmation& confirmation,
                                                 std::string_view candidate,
                                                 std::string_view other);

// By which a confirmation is judged, that may have had others before it. With a = 1 - confidence,
// the first interval misses with probability a, and the i-th from the second on gets a / (i (i -
// 1)), which adds up to a however many there are: who races until a race says `faster` is told so
// wrongly with a probability of 2 a at most (alpha spending, by Bonferroni's inequality).
stats::JudgeOptions judge_options(const RunOptions& options, const Confirmation& confirmation);

stats::Verdict plain_verdict(const Confirmation& confirmation, const RunOptions& options,
                             std::string_view candidate, std::string_view other);

// faster, or slightly faster; slower, or slightly slower.
bool is_ahead(stats::Word word);
bool is_behind(stats::Word word);

}  // namespace assay
