#include "assay/stats/keep.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "assay/stats/bounded.h"
#include "assay/stats/student.h"

namespace assay::stats {
namespace {

constexpr double kStopConfidence = 0.6;       // Two-sided: its upper end is the 80 % bound.
constexpr double kGuardrailConfidence = 0.9;  // Likewise, 95 %.
constexpr double kPower = 0.8;

std::vector<ProcessMean> as_means(std::span<const double> log_ratios) {
  std::vector<ProcessMean> means;
  means.reserve(log_ratios.size());
  for (const double log_ratio : log_ratios) means.push_back({.log_ratio = log_ratio});
  return means;
}

JudgeOptions judge_at(const KeepOptions& options, double confidence) {
  JudgeOptions judge;
  judge.margin = options.min_effect;
  judge.confidence = confidence;
  judge.systematic = options.systematic;
  judge.trim_fraction = options.trim_fraction;
  judge.min_processes = 2;
  return judge;
}

// Of the looks, the last that so many pairs are enough for; -1 for none.
int look_of(std::size_t pairs, const std::vector<int>& looks) {
  int look = -1;
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (pairs >= static_cast<std::size_t>(looks[i])) look = static_cast<int>(i);
  return look;
}

double confidence_of(int look, const KeepOptions& options) {
  const int looks = static_cast<int>(options.looks.size());
  return 1 - 2 * options.false_keeps * spending_share(look, looks);
}

double smallest_keepable(std::span<const double> log_ratios, const KeepOptions& options) {
  const auto interval = trimmed_interval(log_ratios, options.trim_fraction, kStopConfidence, 2);
  if (!interval) return std::numeric_limits<double>::infinity();
  const int last = options.looks.back();
  const double error =
      interval->standard_error * std::sqrt(static_cast<double>(interval->samples) / last);
  const int degrees = last - 2 * static_cast<int>(std::floor(options.trim_fraction * last)) - 1;
  const double confidence = confidence_of(static_cast<int>(options.looks.size()) - 1, options);
  const double reach =
      student_quantile(0.5 + confidence / 2, degrees) + student_quantile(kPower, degrees);
  return std::max(options.min_effect, std::expm1(reach * error));
}

double percent(double ratio) { return 100 * (ratio - 1); }

// "+1.20 % [+0.80, +1.60] after 16 pairs". A sentence alone: nothing is decided by it.
std::string measured(const Verdict& verdict, std::size_t pairs) {
  if (!verdict.has_interval())
    return fmt::format("{:+.2f} % after {} pair{}, too few for an interval", percent(verdict.ratio),
                       pairs, pairs == 1 ? "" : "s");
  if (!is_bounded(verdict.low, verdict.high))
    return fmt::format("{:+.2f} % after {} pairs, too few to bound it", percent(verdict.ratio),
                       pairs);
  return fmt::format("{:+.2f} % [{:+.2f}, {:+.2f}] after {} pairs", percent(verdict.ratio),
                     percent(verdict.low), percent(verdict.high), pairs);
}

}  // namespace

std::string_view to_string(KeepWord word) {
  switch (word) {
    case KeepWord::go_on:
      return "go_on";
    case KeepWord::keep:
      return "keep";
    case KeepWord::near_tie:
      return "near_tie";
    case KeepWord::discard:
      return "discard";
  }
  return "discard";
}

double spending_share(int look, int looks) {
  const auto triangle = [](int n) { return n * (n + 1) / 2.0; };
  double all = 0;
  for (int i = 1; i <= looks; ++i) all += triangle(i);
  return triangle(look + 1) / all;
}

KeepDecision decide_keep(std::span<const double> log_ratios, const KeepOptions& options,
                         bool budget_over) {
  KeepDecision decision;
  decision.smallest_keepable = smallest_keepable(log_ratios, options);
  const int look = look_of(log_ratios.size(), options.looks);
  const int last = static_cast<int>(options.looks.size()) - 1;
  decision.verdict =
      judge(as_means(log_ratios), judge_at(options, confidence_of(std::max(look, 0), options)));
  const Verdict& verdict = decision.verdict;
  if (look >= 0 && verdict.low > 1 && verdict.ratio >= 1 + options.min_effect) {
    decision.word = KeepWord::keep;
    decision.reason = measured(verdict, log_ratios.size());
    return decision;
  }
  const Verdict bound = judge(as_means(log_ratios), judge_at(options, kStopConfidence));
  if (look >= 0 && bound.has_interval() && bound.high < 1 + options.min_effect) {
    decision.word = KeepWord::discard;
    decision.reason = fmt::format(
        "a gain of {:.2g} % is unlikely after {} pairs: {:+.2f} %, and its 80 % bound is {:+.2f} %",
        100 * options.min_effect, log_ratios.size(), percent(verdict.ratio), percent(bound.high));
    return decision;
  }
  if (look < last && !budget_over) return decision;
  const bool better = verdict.ratio > 1 && !log_ratios.empty();
  decision.word = better ? KeepWord::near_tie : KeepWord::discard;
  decision.reason = fmt::format("{}{}, which is {}", measured(verdict, log_ratios.size()),
                                look < last ? ", when the time was over" : "",
                                better ? "no proof of a gain" : "no gain");
  return decision;
}

Guarded judge_guardrail(std::span<const double> log_ratios, double tolerance,
                        const KeepOptions& options) {
  const Verdict verdict = judge(as_means(log_ratios), judge_at(options, kGuardrailConfidence));
  Guarded guarded;
  guarded.ratio = verdict.ratio;
  guarded.low = verdict.low;
  guarded.holds = verdict.has_interval() && verdict.low >= 1 - tolerance;
  if (!guarded.holds)
    guarded.reason = fmt::format(
        "a loss of {:.2f} % cannot be ruled out, and {:.2g} % is tolerated (the estimate is "
        "{:+.2f} %)",
        100 * (1 - verdict.low), 100 * tolerance, percent(verdict.ratio));
  return guarded;
}

}  // namespace assay::stats
