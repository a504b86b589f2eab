#include "assay/sweep/stages/station.h"

#include <algorithm>

#include "assay/sweep/venue_rules.h"

namespace assay::sweep {

Station::Station(const Request& asked, Crew& all, Journal& kept, Observer& shown,
                 const Problem& raced, const measure::Condition& under)
    : Site{.processes = all,
           .problem = raced,
           .condition = under,
           .venue = asked.venue,
           .trial_seconds = asked.limits.trial_seconds,
           .users_apart = rules_of(asked.venue).times_users_apart,
           .apart = asked.pool.apart,
           .commit =
               [&kept, &raced](const std::string& commitment) {
                 return kept.add_commitment(raced.name(), commitment);
               }},
      request(asked),
      crew(all),
      journal(kept),
      observer(shown) {}

bool is_raced_about(const Request& request, const Candidate& candidate) {
  if (candidate.outcome.role != KernelRole::user) return false;
  return request.question.subjects.empty() ||
         std::ranges::find(request.question.subjects, candidate.family) !=
             request.question.subjects.end();
}

bool may_be_candidate(const Request& request, const Candidate& candidate) {
  if (request.question.kind != "race" || request.pool.kernels.empty())
    return candidate.outcome.role != KernelRole::stock;
  return is_raced_about(request, candidate);
}

}  // namespace assay::sweep
