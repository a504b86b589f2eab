#include "assay/report/attempt_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/words.h"
#include "assay/stats/bounded.h"

namespace assay::report {
namespace {

constexpr int kIndent = 10;

std::string line(std::string_view name, const std::string& text, const TextStyle& style) {
  return wrap(fmt::format("{:<{}}{}", name, kIndent, text), style.width, kIndent);
}

std::string value_text(const AttemptMetric& metric) {
  return significant(metric.value) + (metric.unit.empty() ? "" : ' ' + metric.unit);
}

std::string objective_line(const AttemptRecord& record) {
  if (!record.rules) return {};
  const auto metric = record.metrics.find(record.rules->metric);
  if (metric == record.metrics.end()) return {};
  std::string text = fmt::format("{} {}", record.rules->metric, value_text(metric->second));
  if (record.claim && record.claim->has_interval() && !record.baseline)
    text += fmt::format(", {} against the incumbent",
                        stats::is_bounded(record.claim->low, record.claim->high)
                            ? ratio_times(*record.claim)
                            : significant(record.claim->ratio) + " x [no bounds]");
  return text;
}

// What takes most of the time.
std::string profile_words(const AttemptProfile& profile) {
  if (profile.buckets.empty()) return "none: " + sanitize(profile.reason, 200);
  constexpr std::size_t kShown = 5;
  std::vector<std::string> words;
  for (const AttemptBucket& bucket : profile.buckets) {
    if (words.size() == kShown) break;
    words.push_back(fmt::format("{:.1f} % {}", 100 * bucket.share, sanitize(bucket.name, 80)));
  }
  const std::string limit = profile.limit.empty() ? "" : "; " + sanitize(profile.limit, 400);
  return fmt::format("{}: {}{}", sanitize(profile.tool, 40), join(words, ", "), limit);
}

}  // namespace

Tone tone_of(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::keep:
      return Tone::good;
    case AttemptOutcome::near_tie:
      return Tone::caution;
    case AttemptOutcome::discard:
      return Tone::dim;
    default:
      return Tone::bad;
  }
}

std::string attempt_text(const AttemptRecord& record, const TextStyle& style) {
  std::string text =
      line("attempt",
           fmt::format("{} of {}{}", record.seq, sanitize(record.run_tag, 80),
                       record.description.empty() ? "" : ": " + sanitize(record.description, 220)),
           style);
  for (const AttemptStage& stage : record.stages)
    if (stage.outcome == "failed")
      text += line("failed", fmt::format("{}: {}", stage.name, sanitize(stage.reason, 500)), style);
  text += line("outcome",
               coloured(record.baseline && record.outcome == AttemptOutcome::keep
                            ? "baseline"
                            : to_string(record.outcome),
                        tone_of(record.outcome), style) +
                   (record.reason.empty() ? "" : ": " + sanitize(record.reason, 500)),
               style);
  if (const std::string objective = objective_line(record); !objective.empty())
    text += line("objective", objective, style);
  for (const AttemptGuardrail& guardrail : record.guardrails)
    text +=
        line("guardrail",
             fmt::format("{} {}", guardrail.metric, guardrail.holds ? "holds" : "fails"), style);
  if (record.profile) text += line("profile", profile_words(*record.profile), style);
  if (is_decided(record.outcome) && std::isfinite(record.smallest_keepable) &&
      record.smallest_keepable > 0 && (record.outcome != AttemptOutcome::keep || record.baseline))
    text += line("noise",
                 fmt::format("the smallest gain that could be kept is {}",
                             percent(record.smallest_keepable)),
                 style);
  return text;
}

}  // namespace assay::report
