#pragma once

// What one line says of a problem: its winner, and the verdict that stands beside it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/record.h"

namespace assay {

// Whose verdict a problem's is, seen from its winner. It is of a kernel chosen before the decisive
// confirmation, so it need not be of the one that won there.
enum class VerdictOf : std::uint8_t {
  winner,
  tied,    // Of a kernel that tied with the winner.
  behind,  // Of a kernel that did not win: the best of its kind, or the one that a race is about.
};
std::string_view to_string(VerdictOf whose);

struct ProblemRow {
  const KernelOutcome* winner = nullptr;  // None without one.
  double us = 0;                          // Of the winner; 0 unknown.
  const PairVerdict* verdict = nullptr;   // None without one.
  double verdict_us = 0;                  // Of the kernel that the verdict is of; 0 unknown.
  VerdictOf of = VerdictOf::winner;
  bool is_stock = false;  // The verdict is of a stock kernel, against the default.

  bool is_normwise = false;  // Right by the bound that it declares, and not element by element.
};

// Every view of a finished run takes its row from here. Of the decisive confirmation; the pointers
// are into `problem`.
ProblemRow row_of(const ProblemRecord& problem);

// What a kernel is to its problem, seen by somebody who asks what to use.
enum class PartOf : std::uint8_t {
  winner,
  yours,      // The best of the user's own, where it did not win.
  candidate,  // Of whom the verdict is, and neither of those.
  stock,      // The other side of the verdict: the best stock kernel,
  standard,   // or its provider's default.
};
// "winner", "yours", "candidate", "stock", "default".
std::string_view to_string(PartOf part);

// One kernel of a problem, and nothing of another one but the verdict of the two.
struct PartRow {
  PartOf part = PartOf::winner;
  const KernelOutcome* kernel = nullptr;
  double us = 0;              // 0 unknown.
  bool is_disturbed = false;  // The time is at most that.
  double ceiling_share = 0;   // Of ProblemRecord::ceiling; 0 unknown.
  // On the row of the kernel that it is of; none of a default against itself.
  const PairVerdict* verdict = nullptr;
};

// Of whom the verdict is comes first, then the other side, then the winner if it is neither; last
// the best of the user's kernels. Without a verdict all of those: nobody else is there to be seen.
// Empty without a confirmation.
enum class Defaults : std::uint8_t { only_if_compared, always };
std::vector<PartRow> parts_of(const ProblemRecord& problem,
                              Defaults defaults = Defaults::only_if_compared);

}  // namespace assay
