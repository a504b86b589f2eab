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

// The spread of one round's log ratio that confirming has to beat: the largest of the finalists'
// against the leader, raised by the share of rounds that were spoiled. 0 where no finalist but the
// leader has one.
double confirm_spread(std::span<const RaceStanding> standings, std::span<const int> finalists);

struct ConfirmBudget {
  double round_ns = 0;   // What one round of all finalists takes, switching included; 0: unknown.
  double setup_ns = 0;   // What one process takes before its first round and after its last.
  double budget_ns = 0;  // For the rounds of the fewest processes; 0: no limit.
  int fewest = 7, most = 15;  // Processes.
};

struct ConfirmPlan {
  int processes = 7;
  int rounds = 0;                   // Of each process.
  int wanted = 0;                   // Before the budget cut them.
  double predicted_half_width = 0;  // Of the interval of a log ratio.
};

inline constexpr int kMinConfirmRounds = 10;
// Bursts of one launch spread by 7 to 15 % on a shared machine (`make bench`, its A/A races): a
// quarter of 1 % takes up to 2,000 of them.
inline constexpr int kMaxConfirmRounds = 2000;

// How often, and how long each time. Rounds within a process: the fewest of 10 to 2,000 that
// predict a standard error of a quarter of the margin, cut to the budget, never below one.
// Processes: as few as predict an interval (99 %) of a third of the margin to either side, and
// where the budget does not allow for that, as many as make it narrowest, their rounds becoming
// fewer: what is between processes is not beaten by rounds. All together take no longer than the
// fewest would with the whole budget. `spread` is the standard deviation of one round's log ratio.
//
// Pairs that are far apart get no fewer: their word would be the same, their ratio less sure.
ConfirmPlan plan_confirmation(double spread, double margin, const ConfirmBudget& budget = {});

// Behind the planned processes, once: how many more make an interval of the width that was seen
// narrow enough for two equal kernels to be `same`, at most `most` in all; 0 if it is, or if no
// such number does. It knows how far the processes lie apart, never where: who looks at the spread
// alone takes nobody's side (a two-stage design; what it costs in coverage is simulated in
// PlanConfirmTest). `half_width` is of a log ratio (99 %), of which `shared` is what all processes
// have in common, and more of them do not narrow.
struct SeenWidth {
  double half_width = 0, shared = 0;
  int processes = 0;
};
int further_processes(const SeenWidth& seen, double margin, int most);

}  // namespace assay::stats
