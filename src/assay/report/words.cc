#include "assay/report/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/conclude.h"

namespace assay::report {

std::string thousands(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size == 0 || size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  if (size >= 0.001) return fmt::format("{:.3f}", value);
  return fmt::format("{:.2g}", value);
}

std::string microseconds(double us) { return us > 0 ? significant(us) : std::string("-"); }

std::string percent(double fraction) {
  const double value = fraction * 100;
  if (!std::isfinite(value)) return "-";
  return std::abs(value) < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

int ratio_decimals(double margin) {
  if (!(margin > 0)) return 2;
  return std::min(6, std::max(2, static_cast<int>(std::ceil(-std::log10(margin) - 1e-9))));
}

std::string error_text(double share) {
  constexpr double kLargest = 1e300, kPlain = 1000;
  if (!(share < kLargest)) return "without bound";
  return share < kPlain ? fmt::format("{:.2f}", share) : fmt::format("{:.2g}", share);
}

std::string margin_text(double margin) { return fmt::format("{:g} %", margin * 100); }

std::string seconds_text(double seconds) {
  return seconds >= 10 && seconds < 60 ? fmt::format("{:.0f} s", seconds)
                                       : format_duration(seconds);
}

std::string ratio_interval(const stats::Verdict& verdict, int decimals) {
  if (verdict.is_bound())
    return fmt::format("{} {}", verdict.ratio < 1 ? "<=" : ">=", significant(verdict.ratio));
  if (!verdict.has_interval()) return "-";
  return fmt::format("{:.{}f} [{:.{}f} {:.{}f}]", verdict.ratio, decimals, verdict.low, decimals,
                     verdict.high, decimals);
}

std::string ratio_times(const stats::Verdict& verdict) {
  if (!verdict.has_interval()) return "no interval";
  constexpr int kMostDecimals = 4;
  int digits = ratio_decimals(verdict.margin);
  const auto text = [&](double value) { return fmt::format("{:.{}f}", value, digits); };
  while (digits < kMostDecimals && text(verdict.low) == text(verdict.high)) ++digits;
  return fmt::format("{} x [{}, {}]", text(verdict.ratio), text(verdict.low), text(verdict.high));
}

namespace {

// " (0.4 %)" beside `same` and `unsure`.
std::string limit_text(const stats::Verdict& verdict) {
  const bool open = verdict.word == stats::Word::same || verdict.word == stats::Word::unsure;
  if (!open || !std::isfinite(verdict.smallest_detectable) || verdict.smallest_detectable <= 0)
    return {};
  return fmt::format(" ({})", percent(verdict.smallest_detectable));
}

// What would help where nothing could be said.
std::string what_helps(const stats::Verdict& verdict) {
  if (verdict.word != stats::Word::unsure) return {};
  if (!verdict.has_interval())
    return "; less load on the machine, fewer kernels beside it (--provider), or launches below 10 "
           "ms "
           "would help";
  const bool holds_one = verdict.low <= 1 && verdict.high >= 1;
  return holds_one ? "; a longer --budget, or less load on the machine, would help" : "";
}

}  // namespace

std::string verdict_sentence(const stats::Verdict& verdict, std::string_view other) {
  std::string text = against(verdict.word, other);
  if (verdict.is_bound())
    text +=
        fmt::format(", by at least {} x", significant(std::max(verdict.ratio, 1 / verdict.ratio)));
  if (verdict.has_interval()) text += ": " + ratio_times(verdict);
  if (!verdict.reason.empty()) text += "; " + sanitize(verdict.reason, 400);
  return text + what_helps(verdict);
}

std::string word_and_limit(const stats::Verdict& verdict) {
  return std::string(stats::to_string(verdict.word)) + limit_text(verdict);
}

Tone tone_of(stats::Word word) {
  switch (word) {
    case stats::Word::faster:
    case stats::Word::slightly_faster:
      return Tone::good;
    case stats::Word::slower:
    case stats::Word::slightly_slower:
      return Tone::bad;
    case stats::Word::unsure:
      return Tone::caution;
    case stats::Word::same:
      return Tone::plain;
  }
  return Tone::plain;
}

std::string against(stats::Word word, std::string_view other) {
  const std::string_view link = word == stats::Word::same     ? "as"
                                : word == stats::Word::unsure ? "against"
                                                              : "than";
  return fmt::format("{} {} {}", stats::to_string(word), link, other);
}

std::string time_text(const PartRow& row) {
  return row.is_disturbed ? "<= " + microseconds(row.us) : microseconds(row.us);
}

std::string rate_text(std::string_view ceiling, double flops, double bytes) {
  const bool by_bytes = !ceiling.empty() && !ceiling.starts_with("flops");
  return by_bytes ? format_si(bytes, "B/s") : format_si(flops, "FLOP/s");
}

std::string rate_text(const ProblemRecord& problem, const PartRow& row) {
  if (row.us <= 0) return "-";
  return rate_text(problem.ceiling, problem.flops / row.us * 1e6, problem.bytes / row.us * 1e6);
}

std::string share_text(double share) {
  return share > 1 ? std::string(">= 100 %") : percent(share);
}

std::string ceiling_text(const ProblemRecord& problem, const PartRow& row) {
  if (!(row.ceiling_share > 0)) return "-";
  const bool flops = problem.ceiling.starts_with("flops");
  const std::string text =
      fmt::format("{} {}", share_text(row.ceiling_share),
                  flops ? std::string("flops") : sanitize(problem.ceiling, 20));
  return row.ceiling_share > 1 && !flops ? text + ", partly cached" : text;
}

std::string_view part_word(const PartRow& row) {
  const bool is_other = row.part == PartOf::stock && row.kernel->role != KernelRole::stock;
  return is_other ? to_string(row.kernel->role) : to_string(row.part);
}

std::string claim_text(const ProblemRecord& problem, const PartRow& row, int decimals) {
  if (row.verdict == nullptr) return {};
  const stats::Verdict& verdict = row.verdict->verdict;
  const Confirmation* confirmation = problem.decisive();
  const bool of_stock = row.kernel->role == KernelRole::stock;
  const bool is_default =
      of_stock && confirmation != nullptr && confirmation->baseline == row.verdict->other;
  std::string text =
      against(verdict.word, is_default                                ? "default"
                            : rivals_of(problem) == KernelRole::stock ? "best stock"
                                                                      : "best of ours");
  if (const std::string ratio = ratio_interval(verdict, decimals); ratio != "-")
    text += ' ' + ratio;
  return text + limit_text(verdict);
}

}  // namespace assay::report
