#pragma once

#include <span>
#include <string_view>

#include "assay/base/result.h"

namespace assay::cli {

// What scripts can rely on.
inline constexpr int kDone = 0;  // Every problem has a winner, every claim holds.
inline constexpr int kRefuted =
    1;  // A claim was refuted, a regression found, or some problem has no winner.
inline constexpr int kBadInput = 2;        // Usage, or a file that is wrong.
inline constexpr int kMissingRecords = 3;  // Records missing or stale.
inline constexpr int kNothingRan = 4;      // Nothing could run.
inline constexpr int kMachineFailed = 5;   // Disk full, worker cannot start, lock refused.
inline constexpr int kInterrupted = 130;   // By the user; the journal is complete.

int exit_code(ErrorCode code);

// The same for people.
struct ExitMeaning {
  int code;
  std::string_view meaning;
};
std::span<const ExitMeaning> exit_meanings();

}  // namespace assay::cli
