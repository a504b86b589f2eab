#pragma once

// What one line says of a problem: its winner, and the verdict that stands beside it.

#include <cstdint>
#include <string>
#include <string_view>

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

  // Beside the verdict's word: "+" of stock, "~" of one that tied, "^" of one that did not win, "#"
  // of one that is right normwise.
  std::string marks() const;
};

// Every view of a finished run takes its row from here. Of the decisive confirmation; the pointers
// are into `problem`.
ProblemRow row_of(const ProblemRecord& problem);

}  // namespace assay
