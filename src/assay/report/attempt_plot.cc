#include "assay/report/attempt_plot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/document.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// In units of the drawing.
constexpr double kWidth = 960, kHeight = 420;
constexpr double kLeft = 90, kRight = 20, kTop = 56, kBottom = 60;
constexpr double kFailedHeight = 14;  // Of the strip below the axis, for what has no value.
constexpr size_t kMostLabels = 14, kMostLabel = 28;  // How many; letters of one.
constexpr int kTicks = 5;
// The panel of guardrails, below: its height with its heading, and what it leaves to both sides.
constexpr double kPanel = 120, kPanelTop = 30, kPanelBottom = 14;

constexpr std::string_view kStyle =
    "<style>text{font:12px sans-serif;fill:#333}.title{font-size:15px;font-weight:bold}"
    ".axis{stroke:#999}.grid{stroke:#ddd}.tag{stroke:#bbb;stroke-dasharray:4 3}"
    ".best{fill:none;stroke:#1a7f37;stroke-width:2}.base{stroke:#666;stroke-dasharray:6 4}"
    ".noise{fill:#1a7f37;opacity:.1}.keep{fill:#1a7f37}.near_tie{fill:#bf8700}"
    ".discard{fill:#999;opacity:.55}.failed{fill:#cf222e}.allowed{stroke:#bf8700;stroke-dasharray:"
    "2 3}</style>\n";

// The smallest of 1, 2 and 5 times a power of ten by which a span has no more ticks than that.
double round_step(double span) {
  const double least = span / kTicks, power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least) return times * power;
  return 10 * power;
}

// With as many places as tell one tick from the next.
std::string tick_text(double value, double step) {
  constexpr double kLong = 1e7;
  if (std::abs(value) >= kLong) return fmt::format("{:.6g}", value);
  const double places = std::max(0.0, -std::floor(std::log10(step) + 1e-9));
  return fmt::format("{:.{}f}", value + 0.0, static_cast<int>(std::min(places, 12.0)));
}

class Drawing {
 public:
  explicit Drawing(const AttemptPlot& plot) : plot_(plot) {
    choose_axis();
    for (const AttemptPoint& point : plot_.points)
      for (const AttemptPoint::Guardrail& guardrail : point.guardrails)
        deepest_ = std::max({deepest_.value_or(0), 1.5 * guardrail.tolerance,
                             std::min(1.2 * (1 - guardrail.low), kMostLoss)});
  }

  std::string write() {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\">\n{}<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        kWidth, height(), kWidth, height(), kStyle);
    text(kLeft, 22, "title", plot_.title);
    text(kLeft, 40, "",
         plot_.metric + (plot_.unit.empty() ? "" : ", " + plot_.unit) +
             (plot_.minimize ? " (less is better)" : " (more is better)") +
             (plot_.cost.empty() ? "" : "; " + plot_.cost));
    draw_axes();
    draw_tags();
    draw_best();
    draw_points();
    draw_legend();
    draw_guardrails();
    return std::move(out_) + "</svg>\n";
  }

 private:
  double height() const { return deepest_ ? kHeight + kPanel : kHeight; }

  // Of each attempt that came so far: how much of each guardrail may be lost, and what may be
  // allowed of it.
  void draw_guardrails() {
    if (!deepest_) return;
    const double top = kHeight + kPanelTop, low = kHeight + kPanel - kPanelBottom;
    const double room = *deepest_ > 0 ? *deepest_ : kLeastLoss;
    // As much above as a quarter of what is below: gains are of no interest here.
    const auto at = [&](double change) {
      return top + (low - top) * std::clamp((room / 4 - change) / (room * 1.25), 0.0, 1.0);
    };
    text(kLeft, kHeight + 16, "", "guardrails: the most that may be lost, and what is allowed");
    line("grid", kLeft, at(0), kWidth - kRight, at(0));
    text(kLeft - 8, at(0) + 4, "", "0 %", "end");
    text(kLeft - 8, at(-room) + 4, "", fmt::format("{:.2g} %", -100 * room), "end");
    std::set<double> allowed;
    for (size_t i = 0; i < plot_.points.size(); ++i)
      for (const AttemptPoint::Guardrail& guardrail : plot_.points[i].guardrails) {
        if (allowed.insert(guardrail.tolerance).second)
          line("allowed", kLeft, at(-guardrail.tolerance), kWidth - kRight,
               at(-guardrail.tolerance));
        out_ += fmt::format(
            "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" "
            "height=\"6\"><title>{}</title></rect>\n",
            guardrail.holds ? "keep" : "failed", x(i) - 3, at(guardrail.low - 1) - 3,
            html_text(fmt::format("{} {}: {:+.2f} %, {:.2g} % may be lost", plot_.points[i].seq,
                                  guardrail.metric, 100 * (guardrail.low - 1),
                                  100 * guardrail.tolerance)));
      }
  }

  // What was measured, but for the few worst, which end at the drawing's edge.
  void choose_axis() {
    std::vector<double> values;
    for (const AttemptPoint& point : plot_.points)
      if (point.value) values.push_back(plot_.minimize ? *point.value : -*point.value);
    if (values.empty()) return;
    std::ranges::sort(values);
    double low = values.front();
    double high = values[(values.size() - 1) * 95 / 100];
    for (const AttemptPoint& point : plot_.points)
      if (point.value && point.moves_best)
        high = std::max(high, plot_.minimize ? *point.value : -*point.value);
    const double room =
        std::max({(high - low) * 0.08, std::abs(high) * plot_.noise * 1.5, std::abs(high) * 0.01});
    low -= room;
    high += room;
    low_ = plot_.minimize ? low : -high;
    high_ = plot_.minimize ? high : -low;
  }

  double x(size_t index) const {
    const double span = kWidth - kLeft - kRight;
    const auto count = static_cast<double>(plot_.points.size());
    return kLeft + span * (static_cast<double>(index) + 0.5) / std::max(1.0, count);
  }
  double y(double value) const {
    const double share = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
    return bottom() - share * (bottom() - kTop);
  }
  static double bottom() { return kHeight - kBottom - kFailedHeight; }

  void text(double at_x, double at_y, std::string_view css, std::string_view words,
            std::string_view anchor = "start") {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n",
                    at_x, at_y, css, anchor, html_text(words));
  }
  void line(std::string_view css, double x1, double y1, double x2, double y2) {
    out_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", css, x1,
        y1, x2, y2);
  }

  void draw_axes() {
    const double step = round_step(high_ - low_), first = std::ceil(low_ / step);
    for (int tick = 0; tick <= kTicks && (first + tick) * step <= high_; ++tick) {
      const double value = (first + tick) * step;
      line("grid", kLeft, y(value), kWidth - kRight, y(value));
      text(kLeft - 8, y(value) + 4, "", tick_text(value, step), "end");
    }
    line("axis", kLeft, bottom(), kWidth - kRight, bottom());
    const size_t count = plot_.points.size();
    for (size_t i = 0; i < count; i += std::max<size_t>(1, count / 10))
      text(x(i), kHeight - kBottom + 18, "", std::to_string(plot_.points[i].seq), "middle");
  }

  // Where one climb ends and the next begins.
  void draw_tags() {
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      if (i > 0 && plot_.points[i].run_tag == plot_.points[i - 1].run_tag) continue;
      const double at = i == 0 ? kLeft : (x(i) + x(i - 1)) / 2;
      if (i > 0) line("tag", at, kTop, at, bottom());
      if (tags_++ < 6) text(at + 4, kHeight - kBottom + 36, "", plot_.points[i].run_tag);
    }
  }

  void draw_best() {
    std::string path;
    std::optional<double> best;
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      const AttemptPoint& point = plot_.points[i];
      if (point.baseline && point.value && !baseline_) {
        baseline_ = point.value;
        line("base", x(i), y(*point.value), kWidth - kRight, y(*point.value));
      }
      if (!point.moves_best || !point.value) continue;
      path += best ? fmt::format("H{:.1f}V{:.1f}", x(i), y(*point.value))
                   : fmt::format("M{:.1f},{:.1f}", x(i), y(*point.value));
      best = point.value;
    }
    if (!best) return;
    if (plot_.noise > 0 && std::isfinite(plot_.noise)) {
      const double one = y(*best * (1 + plot_.noise)), other = y(*best * (1 - plot_.noise));
      out_ += fmt::format(
          "<rect class=\"noise\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
          kLeft, std::min(one, other), kWidth - kLeft - kRight, std::abs(one - other));
    }
    out_ += fmt::format("<path class=\"best\" d=\"{}H{:.1f}\"/>\n", path, kWidth - kRight);
  }

  void draw_points() {
    const double radius =
        std::clamp(1200.0 / static_cast<double>(plot_.points.size() + 1), 1.5, 5.0);
    for (size_t i = 0; i < plot_.points.size(); ++i) {
      const AttemptPoint& point = plot_.points[i];
      const bool decided = is_decided(point.outcome) && point.value;
      out_ += fmt::format(
          "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
          "r=\"{:.1f}\"><title>{}</title></circle>\n",
          decided ? to_string(point.outcome) : "failed", x(i),
          decided ? y(*point.value) : bottom() + kFailedHeight / 2, radius,
          html_text(fmt::format("{} {}: {}", point.seq, to_string(point.outcome), point.label)));
    }
    // The newest first: an older one that has no room left is told by its point's title.
    for (size_t i = plot_.points.size(); i-- > 0 && labels_.size() < kMostLabels;) {
      const AttemptPoint& point = plot_.points[i];
      if (point.moves_best && is_decided(point.outcome) && point.value && !point.label.empty())
        label(x(i), radius, y(*point.value) - 6, sanitize(point.label, kMostLabel));
    }
  }

  // Beside its point, on the side that has room for it, and only where no other label stands.
  void label(double at_x, double radius, double at_y, const std::string& words) {
    constexpr double kLetterWidth = 7, kLine = 13;
    const double width = static_cast<double>(words.size()) * kLetterWidth;
    const bool fits = at_x + width < kWidth;
    const double begin = fits ? at_x + radius + 2 : at_x - radius - 2 - width;
    for (const Label& other : labels_)
      if (begin < other.end && other.begin < begin + width && std::abs(at_y - other.y) < kLine)
        return;
    labels_.push_back({begin, begin + width, at_y});
    text(fits ? at_x + radius + 2 : at_x - radius - 2, at_y, "", words, fits ? "start" : "end");
  }

  void draw_legend() {
    double at = kWidth - kRight;
    for (const std::string_view word : {"failed", "discard", "near_tie", "keep"}) {
      at -= 84;
      out_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"18\" r=\"5\"/>\n", word, at);
      text(at + 9, 22, "", word);
    }
  }

  struct Label {
    double begin = 0, end = 0, y = 0;
  };

  const AttemptPlot& plot_;
  std::vector<Label> labels_;
  static constexpr double kMostLoss = 1, kLeastLoss = 0.01;
  double low_ = 0, high_ = 1;
  std::optional<double> deepest_;  // The largest loss that the panel shows; none: no panel.
  int tags_ = 0;
  std::optional<double> baseline_;
  std::string out_;
};

}  // namespace

std::string attempt_svg(const AttemptPlot& plot) { return Drawing(plot).write(); }

}  // namespace assay::report
