#pragma once

// A record's claims against a fresh run of the same: does each still hold on this machine?

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/record.h"

namespace assay {

// A problem's claim is its headline: "CANDIDATE is WORD than the best stock kernel" (than the
// default, where the candidate is stock itself). With m the margin, a word claims of the ratio:
//   faster             above 1 + m               slower             below 1 / (1 + m)
//   slightly faster    above 1                   slightly slower    below 1
//   same               within 1 / (1 + m) .. 1 + m
//   unsure             nothing
// held: the fresh interval lies where the word says. refuted: it lies wholly elsewhere, or the
// kernel is no longer proven right. unsure: it reaches both in and out, or nothing was claimed, or
// nothing was measured. gone: the kernel, or the one it was held against, could not be had here.
enum class ReplayWord : std::uint8_t { held, refuted, unsure, gone };
std::string_view to_string(ReplayWord word);

// What one run says of the claim.
struct ReplayedSide {
  std::string other;  // Label of the kernel that decides: the best stock one, or the default.
  stats::Verdict verdict;
  double candidate_us = 0, other_us = 0;  // Medians: never the ratio's base.
};

struct ReplayedClaim {
  std::string problem;
  std::string candidate;  // Label.
  ReplayWord word = ReplayWord::unsure;
  std::string reason;                     // Of every word but held; may be empty for refuted.
  std::optional<ReplayedSide> then, now;  // The record's; the fresh run's.
  std::vector<std::string> differences;   // Sentences: what was built is not what was built then.
};

// Whether an interval bears out a word; unsure for the word `unsure` and without an interval.
ReplayWord replay_word(stats::Word claimed, double margin, const stats::Verdict& fresh);

// What the record claims of a problem: `then` is filled; the word is gone where there is a claim,
// until somebody says otherwise, and unsure with its reason where there is none.
ReplayedClaim claim_of(const ProblemRecord& recorded);

// The same claim after the problem was raced again with this candidate. Pure.
ReplayedClaim judge_replay(const ProblemRecord& recorded, const ProblemRecord& fresh,
                           double margin);

// What differs between the runs as a whole: the environment, the program, what was not found
// again, how the recorded words were judged. Sentences.
std::vector<std::string> replay_differences(const RunRecord& recorded, const RunRecord& fresh);

}  // namespace assay
