#pragma once

// Every word of a record, made again from its samples.

#include <string>
#include <vector>

#include "assay/record/record.h"

namespace assay {

struct Difference {
  std::string problem;
  std::string what;  // "headline", "mine/skinny against openblas/gemm", "winner" ...
  std::string recorded;
  std::string recomputed;

  std::string sentence() const;  // "m1: winner: the record says 'a', the evidence says 'b'"
};

// Empty where the record says what its samples say. Also compared: ratios and intervals (to 1e-9),
// the hash of the samples, each published seed with its commitment, each proof with its checks, and
// whether those who won were proven and timed.
std::vector<Difference> recompute(const RunRecord& record);
std::vector<Difference> recompute(const ProblemRecord& problem, const RunOptions& options);

}  // namespace assay
