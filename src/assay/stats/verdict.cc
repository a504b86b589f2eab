#include "assay/stats/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "assay/base/text.h"
#include "assay/stats/robust.h"
#include "assay/stats/student.h"

namespace assay::stats {
namespace {

constexpr std::array<std::pair<Word, std::string_view>, 6> kWords = {{
    {Word::faster, "faster"},
    {Word::slightly_faster, "slightly faster"},
    {Word::same, "same"},
    {Word::slightly_slower, "slightly slower"},
    {Word::slower, "slower"},
    {Word::unsure, "unsure"},
}};

// From the strongest claim to the weakest; see weakest() in the header.
constexpr std::array<Word, 6> kByStrength = {Word::faster, Word::slightly_faster, Word::same,
                                             Word::unsure, Word::slightly_slower, Word::slower};

std::ptrdiff_t weakness(Word word) {
  return std::find(kByStrength.begin(), kByStrength.end(), word) - kByStrength.begin();
}

// How often a real difference of smallest_detectable should be found clear of 0; see the header for
// what comes of it.
constexpr double kPlannedPower = 0.8;

Word word_of(const Interval& interval, double log_margin) {
  if (interval.low > log_margin) return Word::faster;
  if (interval.high < -log_margin) return Word::slower;
  if (interval.low > 0) return Word::slightly_faster;
  if (interval.high < 0) return Word::slightly_slower;
  if (interval.low >= -log_margin && interval.high <= log_margin) return Word::same;
  return Word::unsure;
}

std::string options_fault(const JudgeOptions& options) {
  if (!std::isfinite(options.margin) || options.margin <= 0) {
    return fmt::format("the margin {} is not a positive fraction", options.margin);
  }
  if (!(options.confidence > 0) || !(options.confidence < 1)) {
    return fmt::format("the confidence {} does not lie between 0 and 1", options.confidence);
  }
  if (options.min_processes < 2) {
    return fmt::format("an interval needs at least 2 processes, {} asked for",
                       options.min_processes);
  }
  if (!std::isfinite(options.systematic) || options.systematic < 0) {
    return fmt::format("a systematic error cannot be {}", options.systematic);
  }
  if (!(options.trim_fraction >= 0) || !(options.trim_fraction < 0.5)) {
    return fmt::format("a share of {} cannot be cut at each end", options.trim_fraction);
  }
  return {};
}

constexpr double kManyDegrees = 1e6;  // With as many Student's quantiles are the normal ones.

}  // namespace

std::string_view to_string(Word word) {
  for (const auto& [value, text] : kWords) {
    if (value == word) return text;
  }
  return "unsure";
}

Result<Word> parse_word(std::string_view text) {
  for (const auto& [value, name] : kWords) {
    if (name == text) return value;
  }
  return fail(
      ErrorCode::invalid_input,
      "'{}' is no verdict: faster, slightly faster, same, slightly slower, slower or unsure",
      sanitize(text, 60));
}

bool Verdict::has_interval() const { return low > 0 && std::isfinite(high); }

bool Verdict::is_bound() const {
  if (word == Word::faster) return low > 0 && !std::isfinite(high);
  return word == Word::slower && !(low > 0) && std::isfinite(high);
}

Verdict judge(std::span<const ProcessMean> processes, const JudgeOptions& options) {
  Verdict verdict;
  verdict.margin = options.margin;
  verdict.systematic = options.systematic;
  std::vector<double> means;
  for (const ProcessMean& process : processes) {
    if (process.log_ratio && std::isfinite(*process.log_ratio)) means.push_back(*process.log_ratio);
  }
  verdict.processes = static_cast<int>(means.size());
  if (!means.empty()) verdict.ratio = std::exp(mean(means));
  verdict.reason = options_fault(options);
  if (!verdict.reason.empty()) return verdict;

  auto interval =
      trimmed_interval(means, options.trim_fraction, options.confidence, options.min_processes);
  if (!interval) {
    verdict.reason = fmt::format(
        "{} of {} processes gave a mean, {} are needed: a process gives none where under half of "
        "its rounds stayed clean",
        means.size(), processes.size(), options.min_processes);
    return verdict;
  }
  const double shared = shared_half_width(options.systematic, options.confidence);
  verdict.ratio = std::exp(interval->centre);
  const double half_width = std::hypot(interval->high - interval->centre, shared);
  interval->low = interval->centre - half_width;
  interval->high = interval->centre + half_width;
  verdict.word = word_of(*interval, std::log1p(options.margin));
  verdict.low = std::exp(interval->low);
  verdict.high = std::exp(interval->high);
  // Half the interval, and as much again as keeps the estimate beyond it that often.
  const double degrees = interval->degrees;
  const double reach = student_quantile(0.5 + options.confidence / 2, degrees) +
                       student_quantile(kPlannedPower, degrees);
  verdict.smallest_detectable = std::expm1(std::hypot(reach * interval->standard_error, shared));
  if (verdict.word == Word::unsure) {
    verdict.reason = fmt::format(
        "the interval {:.4g} to {:.4g} holds 1 and reaches beyond the margin of {:.3g} %: the "
        "processes differ too much",
        verdict.low, verdict.high, 100 * options.margin);
  }
  return verdict;
}

double shared_half_width(double systematic, double confidence) {
  return systematic * student_quantile(0.5 + confidence / 2, kManyDegrees);
}

Word weakest(Word first, Word second) {
  return weakness(first) >= weakness(second) ? first : second;
}

Verdict weakest(std::span<const Verdict> verdicts) {
  if (verdicts.empty()) {
    Verdict none;
    none.reason = "no stock kernel was confirmed";
    return none;
  }
  return *std::max_element(verdicts.begin(), verdicts.end(),
                           [](const Verdict& left, const Verdict& right) {
                             if (left.word != right.word) {
                               return weakness(left.word) < weakness(right.word);
                             }
                             if (left.low != right.low) return left.low > right.low;
                             return left.high > right.high;
                           });
}

}  // namespace assay::stats
