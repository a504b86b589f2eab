#include "cli/lab/attempt_words.h"

#include <fmt/format.h>

#include "assay/report/words.h"
#include "assay/stats/bounded.h"

namespace assay::cli {

std::string outcome_word(const lab::Attempt& attempt) {
  if (!attempt.outcome) return "running";
  if (attempt.baseline && *attempt.outcome == AttemptOutcome::keep) return "baseline";
  return std::string(to_string(*attempt.outcome));
}

std::string value_text(const lab::Primary& primary) {
  return primary.unit.empty() ? report::significant(primary.value)
                              : report::significant(primary.value) + ' ' + primary.unit;
}

std::string gain_text(const lab::Claim& claim) {
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  if (claim.high <= 0) return fmt::format("{:+.2f} %", percent(claim.ratio));
  if (!stats::is_bounded(claim.low, claim.high))
    return fmt::format("{:+.2f} % [no bounds]", percent(claim.ratio));
  return fmt::format("{:+.2f} % [{:+.2f}, {:+.2f}]", percent(claim.ratio), percent(claim.low),
                     percent(claim.high));
}

}  // namespace assay::cli
