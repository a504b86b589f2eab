#pragma once

// The samples that a published ratio rests on, and what was concluded from them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/stats/verdict.h"

namespace assay {

// The bursts of one kernel in one process. Both lists have one entry per round.
struct KernelSamples {
  std::string id;                      // KernelOutcome::id.
  std::int64_t launches = 1;           // b: launches per burst, the same in every round.
  std::vector<std::int64_t> burst_ns;  // Wall time of the burst; 0 where there was none.
  std::vector<std::uint8_t> clean;     // 0 where the scheduler or the clock spoiled the burst.
  // Of the same bursts by the clock of another process, 0 where it is not known. Absent in earlier
  // records, and on a GPU.
  std::vector<std::int64_t> outside_ns;
  // Processor time of the thread that launches, beside the launches of the same bursts: from the
  // answer that their inputs are made from until their outputs had been looked at. 0 if it is not
  // known. Absent in earlier records, and on a GPU.
  std::vector<std::int64_t> beside_ns;
  // Of spoiled bursts: what processor time the process took meanwhile, by its clock as others read
  // it, at least and at most. 0 where it is not known, and in rounds that are clean. Absent in
  // earlier records, where no round is spoiled, and on a GPU.
  std::vector<std::int64_t> ran_least_ns, ran_most_ns;
  int process = 0;  // Of the company's, in which it ran: 0 holds the stock kernels.

  bool operator==(const KernelSamples&) const = default;
};

// One fresh process: one sample of every claim.
struct ProcessSamples {
  std::string seed_commitment;  // commitment_of(seed), journalled before the first launch.
  std::string seed;             // Hex of its bytes; published afterwards.
  int placements = 0;
  std::vector<int> placement;           // By round: 0 .. placements - 1.
  std::vector<std::vector<int>> order;  // By round: indices into `kernels` in the order they ran.
  std::vector<KernelSamples> kernels;
  // In a chain: links without a kernel, in the same rounds (stats/chain.h). Its id is empty.
  std::optional<KernelSamples> bare_links;
  // Where users' kernels have processes of their own: stock kernels and ours in rounds made while
  // none of these was alive.
  std::vector<KernelSamples> alone;

  std::size_t rounds() const { return placement.size(); }
  const KernelSamples* find(std::string_view id) const;
  bool operator==(const ProcessSamples&) const = default;
};

// SHA-256 (hex) of the bytes that `seed` spells in hex; invalid_input if it is not hex.
Result<std::string> commitment_of(std::string_view seed);

// The words on one pair: `verdict` reads "candidate is <word> than other".
struct PairVerdict {
  std::string candidate;  // KernelOutcome::id, as are all ids here.
  std::string other;
  stats::Verdict verdict;

  // The library's default, which nothing else is held against: no claim, and nothing to show.
  bool is_of_itself() const { return candidate == other; }
};

// What conclude() says of a confirmation (conclude.h). Everything here can be made again from the
// samples, and `assay compare` does.
struct Conclusion {
  std::vector<PairVerdict> against_leader;  // Every other confirmed kernel against the leader.
  // The candidate against every confirmed stock kernel, or against ours (conclude.h: rivals_of).
  std::vector<PairVerdict> against_stock;
  std::string winner;
  std::vector<std::string> tied;     // Winner first; just the winner where nothing ties.
  std::vector<std::string> unclear;  // Too noisy to place; ends `unsure`, naming the leader.
  std::vector<std::string> ahead;    // `faster` than the leader: it must lead one more time.
  // The problem's verdict: the candidate against the best stock kernel, or, where the candidate is
  // stock itself, against the baseline. Since kRulesOfBounds of a user's candidate; without one the
  // winner stands in its place.
  std::optional<PairVerdict> headline;
  struct Time {
    std::string id;
    // Per launch, over all clean bursts, in a chain less what a bare link takes: never a ratio's
    // base.
    double median_us = 0;
    // No burst of it was clean: the time is over all of them, by its processor time where one
    // thread ran. Since kRulesOfBounds.
    bool is_disturbed = false;
    bool operator==(const Time&) const = default;
  };
  std::vector<Time> times;

  // SHA-256 (hex) of the samples as they are written, and of what they are said to be samples of:
  // problem, condition, class, and who was confirmed. An edit that no statistic feels shows here;
  // it is no signature.
  std::string evidence_hash;
  std::string samples_hash;  // Of earlier records, which have no other: of the samples alone.

  double median_us(std::string_view id) const;  // 0 for a kernel without a time.
  bool is_disturbed(std::string_view id) const;
};

// One confirmation. Leader, candidate, finalists and rounds were fixed before its first sample.
struct Confirmation {
  std::vector<std::string> finalists;  // Leader first, in the race's order.
  std::string leader;
  // Whose verdict is the problem's: the user's kernel in a race, else the best kernel that is not
  // stock (kept among the finalists even if it was dropped), else the leader.
  std::string candidate;
  std::string baseline;   // The default of the first stock provider by rank; ties go to it.
  int rounds = 0;         // Per process, as predicted.
  int wanted_rounds = 0;  // Before the budget cut it.
  // Of the candidate on this problem and machine, before this one: its interval is widened for
  // them.
  int earlier = 0;
  std::vector<ProcessSamples> processes;
  Conclusion conclusion;
};

}  // namespace assay
