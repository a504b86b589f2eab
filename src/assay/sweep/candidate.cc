#include "assay/sweep/candidate.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace assay::sweep {

std::string Candidate::family() const { return row.value("family", std::string()); }

bool is_raced_about(const Request& request, const Candidate& candidate) {
  if (candidate.outcome.role != KernelRole::user) return false;
  return request.about.empty() ||
         std::ranges::find(request.about, candidate.family()) != request.about.end();
}

}  // namespace assay::sweep
