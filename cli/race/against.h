#pragma once

// A verdict on the user's kernel against something other than the best stock kernel: a provider, or
// another file. Made by stats::judge from the confirming samples, as every other.

#include <functional>
#include <optional>
#include <string>

#include "assay/record/record.h"

namespace assay::cli {

using KernelTest = std::function<bool(const KernelOutcome&)>;

struct Against {
  std::string other;  // Label of the opponent that decides; empty where none was confirmed.
  stats::Verdict verdict;
};

// `mine` against every confirmed kernel that `others` holds for: the weakest word decides. None
// where no kernel of mine was confirmed.
std::optional<Against> verdict_against(const ProblemRecord& problem, const RunOptions& options,
                                       const KernelTest& mine, const KernelTest& others);

}  // namespace assay::cli
