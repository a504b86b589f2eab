#pragma once

// From a finished race to what is confirmed, and for how long. Both are fixed before the first
// confirming sample is taken.

#include <span>
#include <vector>

#include "assay/stats/race.h"

namespace assay::stats {

struct FinalistTraits {
  bool stock = false;
  bool keep = false;  // Baseline, incumbent, the kernel a user asked about: confirmed in any case.
};

// The leader, at most `further` further survivors (those that are or look clearly behind take no
// seat), the best two stock kernels (dropped ones too: a claim against stock needs them), and
// every kernel to keep. `standings` as Race gives them, leader first; `traits` by kernel, those
// missing are neither stock nor kept. Returns kernels, the leader first, none twice.
inline constexpr int kFurtherSurvivors = 3;
inline constexpr int kStockFinalists = 2;
std::vector<int> choose_finalists(std::span<const RaceStanding> standings,
                                  std::span<const FinalistTraits> traits,
                                  int further = kFurtherSurvivors);

// The spread that the confirming rounds have to beat: the largest of the finalists' spreads against
// the leader, raised by the share of rounds that were spoiled. A kernel that is far behind counts
// for less: its standard error may be a quarter of its distance from the margin where that is more
// than the margin. 0 where no finalist but the leader has a spread.
double confirm_spread(std::span<const RaceStanding> standings, std::span<const int> finalists,
                      double margin);

struct ConfirmBudget {
  double round_ns = 0;   // What one round of all finalists takes, switching included; 0: unknown.
  double budget_ns = 0;  // The problem's share for confirming, over all processes; 0: no limit.
  int processes = 7;
  int placements = 4;  // Rounds are dealt evenly over the placements of a process.
};

struct ConfirmRounds {
  int rounds = 0;                       // Per process; a multiple of the placements.
  int wanted = 0;                       // Before the budget cut it.
  double predicted_standard_error = 0;  // Within one process, of a log ratio.
  bool cut = false;                     // The budget allowed fewer rounds than wanted.
  bool over_budget = false;             // Even one round per placement does not fit.
};

inline constexpr int kMinConfirmRounds = 10;
// Bursts of one launch spread by 7 to 15 % on a shared machine (`make bench`, its A/A races): a
// quarter of 1 % takes up to 2,000 of them.
inline constexpr int kMaxConfirmRounds = 2000;

// The fewest of 10 to 2,000 rounds that predict a within-process standard error of a quarter of the
// margin, rounded up to a multiple of the placements, then cut to the budget, but never below one
// round per placement. `spread` is the standard deviation of one round's log ratio.
ConfirmRounds predict_confirm_rounds(double spread, double margin,
                                     const ConfirmBudget& budget = {});

}  // namespace assay::stats
