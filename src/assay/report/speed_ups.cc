#include "assay/report/speed_ups.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "assay/report/document.h"
#include "assay/report/log_axis.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// Ratios beyond these end at the drawing's edge; the numbers beside it are in full.
constexpr double kLeastRatio = 0.01, kMostRatio = 100;
constexpr double kLeastReach = 1.05;       // What the axis shows at least, in both directions.
constexpr double kLeastTickDistance = 13;  // Per cent: room for a number on a narrow screen.

bool is_drawn(const ProblemRecord& problem) {
  return problem.headline() != nullptr && problem.headline()->verdict.has_interval() &&
         problem.headline()->verdict.ratio > 0;
}

LogAxis axis_of(const RunRecord& record) {
  double low = 1 / kLeastReach, high = kLeastReach;
  for (const ProblemRecord& problem : record.problems) {
    if (!is_drawn(problem)) continue;
    const stats::Verdict& verdict = problem.headline()->verdict;
    low = std::min({low, verdict.low, verdict.ratio});
    high = std::max({high, verdict.high, verdict.ratio});
  }
  low = std::max(low, kLeastRatio);
  high = std::min(high, kMostRatio);
  const double room = std::pow(high / low, 0.05);
  return {low / room, high * room};
}

std::vector<double> ticks_of(const LogAxis& axis) {
  return axis.ticks({1,   2,   0.5, 10,   0.1,  5,    0.2,  1.5, 0.67, 3,  0.33, 1.2,
                     0.8, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 50,  0.02, 20, 0.05},
                    kLeastTickDistance);
}

std::string rectangle(std::string_view css, double from, double to, std::string_view y,
                      std::string_view height) {
  return fmt::format("<rect class=\"{}\" x=\"{:.2f}%\" y=\"{}\" width=\"{:.2f}%\" height=\"{}\"/>",
                     css, std::min(from, to), y, std::abs(to - from), height);
}

std::string vertical(std::string_view css, double at, std::string_view from, std::string_view to) {
  return fmt::format("<line class=\"{}\" x1=\"{:.2f}%\" x2=\"{:.2f}%\" y1=\"{}\" y2=\"{}\"/>", css,
                     at, at, from, to);
}

std::string drawing(const stats::Verdict& verdict, const LogAxis& axis, double margin) {
  const auto at = [&](double ratio) { return axis.percent_of(ratio); };
  std::string out;
  if (margin > 0) out += rectangle("margin", at(1 / (1 + margin)), at(1 + margin), "0", "100%");
  for (const double tick : ticks_of(axis))
    out += vertical(tick == 1 ? "one" : "grid", at(tick), "0", "100%");
  const std::string_view tone = css_class(tone_of(verdict.word));
  out += rectangle(fmt::format("bar {}", tone.empty() ? "plain" : tone), at(1), at(verdict.ratio),
                   "25%", "50%");
  out +=
      fmt::format("<line class=\"interval\" x1=\"{:.2f}%\" x2=\"{:.2f}%\" y1=\"50%\" y2=\"50%\"/>",
                  at(verdict.low), at(verdict.high));
  for (const double end : {verdict.low, verdict.high})
    out += vertical("interval", at(end), "30%", "70%");
  out +=
      fmt::format("<circle class=\"dot\" cx=\"{:.2f}%\" cy=\"50%\" r=\"3\"/>", at(verdict.ratio));
  return out;
}

std::string row(const ProblemRecord& problem, const LogAxis& axis, double margin, int decimals) {
  const PairVerdict& headline = *problem.headline();
  const stats::Verdict& verdict = headline.verdict;
  const std::string numbers = ratio_interval(verdict, decimals);
  const std::string word(stats::to_string(verdict.word));
  const std::string_view tone = css_class(tone_of(verdict.word));
  std::string out = fmt::format(
      "<div class=\"bars-row\">\n<div class=\"bars-name\">{}<span class=\"dim\">{} against "
      "{}</span></div>\n",
      html_breakable(problem.name), html_breakable(problem.label(headline.candidate)),
      html_breakable(problem.label(headline.other)));
  out += fmt::format("<svg role=\"img\" aria-label=\"{}: {} {}\"><title>{} {}</title>{}</svg>\n",
                     html_text(problem.name), numbers, word, numbers, word,
                     drawing(verdict, axis, margin));
  return out + fmt::format("<div class=\"bars-value\">{} <b class=\"{}\">{}</b></div>\n</div>\n",
                           numbers, tone, word);
}

}  // namespace

std::string speed_up_bars(const RunRecord& record) {
  if (std::ranges::none_of(record.problems, is_drawn)) return {};
  const LogAxis axis = axis_of(record);
  const double margin = std::min(record.options.margin, 1.0);
  const int decimals = std::max(3, ratio_decimals(record.options.margin));
  std::string out = "<section id=\"speedups\">\n<h2>Speed-ups</h2>\n";
  out += fmt::format(
      "<p>Against the best stock kernel; right of 1 is faster. Dot: the ratio. Line: its {} "
      "interval. Band: differences within the margin of {}.</p>\n<div class=\"bars\">\n",
      percent(record.options.confidence), margin_text(record.options.margin));
  std::string undrawn;
  for (const ProblemRecord& problem : record.problems) {
    if (is_drawn(problem))
      out += row(problem, axis, margin, decimals);
    else
      undrawn += (undrawn.empty() ? "" : ", ") + html_text(problem.name);
  }
  out +=
      "<div class=\"bars-row axis\" aria-hidden=\"true\"><div class=\"bars-name\"></div><div "
      "class=\"ticks\">";
  for (const double tick : ticks_of(axis))
    out += fmt::format("<span style=\"left:{:.2f}%\">{:g}</span>", axis.percent_of(tick), tick);
  out += "</div><div class=\"bars-value\"></div></div>\n</div>\n";
  if (!undrawn.empty()) out += fmt::format("<p>Without an interval: {}.</p>\n", undrawn);
  return out + "</section>\n";
}

}  // namespace assay::report
