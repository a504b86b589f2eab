#pragma once

// Who wins where the interval cannot tell kernels apart.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/stats/verdict.h"

namespace assay::stats {

// Where a kernel stands against the leader that was fixed before the first confirming sample.
enum class Standing {
  ahead,    // `faster`: it leads one further confirmation with new seeds.
  tied,     // The verdict allows both to be called winners.
  behind,   // Shown to be behind.
  unclear,  // The interval is too wide to say: reported as `unsure`, naming the leader.
};

// `verdict` has the kernel as candidate and the leader as the other. Tied are `same`, `slightly
// faster`, `slightly slower` and `unsure`, each only where the low end lies above -2 L: a winner by
// tie-break can cost its user no more than that. A `slightly slower` whose interval reaches further
// down is behind, an `unsure` one is unclear.
Standing standing(const Verdict& verdict);
bool tied_with_leader(const Verdict& verdict);

struct TieCandidate {
  std::string name;
  // The verdict against the leader; none for the leader itself.
  std::optional<Verdict> against_leader;
  bool incumbent = false;  // The tuned table's kernel; at first the provider's default.
  std::uint64_t workspace_bytes = 0;
};

struct TieResult {
  std::size_t winner = 0;            // Index into the candidates.
  std::vector<std::size_t> tied;     // Everyone who could be called the winner, winner first.
  std::vector<std::size_t> unclear;  // Neither tied nor behind, in order of name.
  std::vector<std::size_t>
      ahead;  // `faster` than the leader: each asks for a further confirmation.
};

// Ties go to the incumbent, then to the smaller workspace, then to the name. None where no
// candidate or more than one is the leader.
std::optional<TieResult> break_ties(std::span<const TieCandidate> candidates);

}  // namespace assay::stats
