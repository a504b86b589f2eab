#include "assay/sweep/candidate.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "assay/kernel/artifact.h"

namespace assay::sweep {

Json Candidate::artifact() const {
  if (!built) return nullptr;
  return Artifact{outcome.artifact_hash, artifact_file, outcome.artifact_facts.json()}.to_json();
}

void Candidate::take_over(KernelOutcome earlier, double earlier_launch_ns) {
  // The same, but shared with others of its family.
  earlier.metadata = outcome.metadata;
  earlier.ranks = outcome.ranks;
  if (built) earlier.artifact_facts = outcome.artifact_facts;
  launch_ns = earlier_launch_ns;
  outcome = std::move(earlier);
  proven = alive();
}

bool is_raced_about(const Request& request, const Candidate& candidate) {
  if (candidate.outcome.role != KernelRole::user) return false;
  return request.about.empty() ||
         std::ranges::find(request.about, candidate.family) != request.about.end();
}

bool may_be_candidate(const Request& request, const Candidate& candidate) {
  if (request.kind != "race" || request.kernels.empty())
    return candidate.outcome.role != KernelRole::stock;
  return is_raced_about(request, candidate);
}

}  // namespace assay::sweep
