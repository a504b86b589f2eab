#pragma once

// A kept win tested again: the best state without it, as an attempt of its own.

#include <string>
#include <vector>

#include "assay/lab/evaluate/evaluate.h"

namespace assay::lab {

// Kept attempts of the case's series but the baseline and the last, the oldest first.
Result<std::vector<Attempt>> older_wins(const Lab& lab, const Case& target,
                                        const EvaluateOptions& options,
                                        const HistoryContent& content);

struct Reablated {
  // "still_wins": without it the best state is provably slower; "loses": without it that is kept;
  // "unsure"; "tangled": later changes touch the same lines; or how its attempt ended.
  std::string word, reason;
  std::int64_t measured_as = 0;  // The number of its attempt; 0: there is none.
  bool interrupted = false;
};

Result<Reablated> reablate(const Lab& lab, const Case& target, const Attempt& win,
                           const EvaluateOptions& options, const EvaluateObserver& observer);

}  // namespace assay::lab
