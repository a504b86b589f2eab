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
// times, the hash of the evidence, each published seed with its commitment, each proof with its
// checks, whether those who won were proven and timed, what find_contradictions looks at
// (claimed.h), and findings that samples show. Trust, environment and other findings are what the
// run saw: nothing here can make them again.
std::vector<Difference> recompute(const RunRecord& record);
// `confirms`: a problem without a winner must say why.
std::vector<Difference> recompute(const ProblemRecord& problem, const RunRecord& record);

}  // namespace assay
