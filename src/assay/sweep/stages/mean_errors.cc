#include "assay/sweep/stages/mean_errors.h"

#include <utility>
#include <vector>

#include "assay/record/coarse.h"

namespace assay::sweep {

void judge_mean_errors(const Station& station, Field& field) {
  std::vector<const KernelOutcome*> proven;
  for (const Candidate& candidate : field.candidates)
    if (candidate.alive() && candidate.proven) proven.push_back(&candidate.outcome);
  const StockErrors stock = stock_errors(proven);
  for (Candidate& candidate : field.candidates) {
    if (!candidate.alive() || !candidate.proven) continue;
    auto coarse =
        coarse_arithmetic(*candidate.outcome.proof, stock, station.request.venue.is_gpu());
    if (!coarse) continue;
    candidate.outcome.proof->right = false;
    candidate.outcome.findings.push_back({"coarse_arithmetic", *coarse});
    candidate.outcome.ending = ending::Mismatch{std::move(*coarse)};
  }
}

}  // namespace assay::sweep
