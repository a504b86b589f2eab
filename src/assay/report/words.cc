#include "assay/report/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"

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

std::string margin_text(double margin) { return fmt::format("{:g} %", margin * 100); }

std::string seconds_text(double seconds) {
  return seconds >= 10 && seconds < 60 ? fmt::format("{:.0f} s", seconds)
                                       : format_duration(seconds);
}

std::string ratio_interval(const stats::Verdict& verdict, int decimals) {
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

std::string word_and_limit(const stats::Verdict& verdict, std::string_view mark) {
  std::string text = fmt::format("{}{}", stats::to_string(verdict.word), mark);
  const bool open = verdict.word == stats::Word::same || verdict.word == stats::Word::unsure;
  if (open && std::isfinite(verdict.smallest_detectable) && verdict.smallest_detectable > 0) {
    text += fmt::format(" ({})", percent(verdict.smallest_detectable));
  }
  return text;
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

std::string ceiling_share(const ProblemRecord& problem) {
  if (!(problem.ceiling_share > 0)) return "-";
  const std::string_view name = problem.ceiling;
  const std::string short_name = name == "read"              ? "rd"
                                 : name == "write"           ? "wr"
                                 : name == "copy"            ? "cp"
                                 : name.starts_with("flops") ? "fl"
                                                             : sanitize(name.substr(0, 2));
  return fmt::format("{:.0f} % {}", problem.ceiling_share * 100, short_name);
}

bool shows_more_than_ceiling(const ProblemRecord& problem) {
  return std::round(problem.ceiling_share * 100) > 100;
}

}  // namespace assay::report
