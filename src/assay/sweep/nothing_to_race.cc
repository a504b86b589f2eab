#include "assay/sweep/nothing_to_race.h"

#include <fmt/format.h>

#include "assay/record/outcome.h"
#include "assay/sweep/stages/station.h"

namespace assay::sweep {

std::string why_no_race(const Request& request, const Field& field) {
  if (request.question.kind != "race" || request.pool.kernels.empty()) return {};
  std::string why = "the kernel that the race is about takes no part";
  for (const auto& [reason, refused] : field.refusals)
    if (reason == Reason::dependent_launch_class || reason == Reason::preparation_class)
      why += ": " + refused.example;
  for (const Candidate& candidate : field.candidates) {
    if (!is_raced_about(request, candidate)) continue;
    if (candidate.alive()) return {};
    why = fmt::format("{} {}", candidate.outcome.name, ending_sentence(candidate.outcome.ending));
  }
  return why;
}

}  // namespace assay::sweep
