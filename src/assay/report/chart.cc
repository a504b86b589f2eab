#include "assay/report/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "assay/report/document.h"

namespace assay::report {
namespace {

constexpr double kUnits = 1000;  // The drawing is so many wide and high.
constexpr int kChartTicks = 5;
constexpr std::array<std::string_view, 5> kInks = {"first", "second", "third", "dim", "bad"};

std::string_view ink_of(const ChartSeries& series) {
  return kInks[static_cast<std::size_t>(series.ink)];
}

// From 0, or from the least value if all are far from it; to a round number beyond the largest.
struct Axis {
  double low = 0, high = 1, step = 1;

  void choose(double least, double most) {
    low = std::min(0.0, least);
    const double top = most > low ? most : low + 1;
    const double rough = (top - low) / kChartTicks,
                 power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      step = factor * power;
      if (step >= rough) break;
    }
    low = std::floor(low / step) * step;
    high = std::max(low + step, std::ceil(top / step - 1e-9) * step);
  }
  double at(double value) const { return (value - low) / (high - low); }
};

class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart) : chart_(chart) {
    double left = std::numeric_limits<double>::infinity(), bottom = left;
    double right = -left, top = -left;
    for (const ChartSeries& series : chart.series)
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        const auto [a, b] = series.points[i];
        const bool spans = series.shape == ChartSeries::Shape::spans;
        left = std::min(left, a);
        right = std::max(right, spans ? b : a);
        bottom = std::min(bottom, spans ? series.heights[i] : b);
        top = std::max(top, spans ? series.heights[i] : b);
      }
    x_.choose(left, right);
    y_.choose(bottom, top);
  }

  std::string svg() const {
    std::string out = "<svg role=\"img\" aria-label=\"" + html_text(chart_.title) + "\">\n";
    for (double tick = y_.low; tick <= y_.high * (1 + 1e-9); tick += y_.step)
      out += fmt::format(
          "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{0:.2f}%\" y2=\"{0:.2f}%\"/>\n",
          100 * place_y(tick));
    out += fmt::format(
        "<svg viewBox=\"0 0 {0} {0}\" width=\"100%\" height=\"100%\" "
        "preserveAspectRatio=\"none\">\n",
        kUnits);
    for (const ChartSeries& series : chart_.series)
      if (series.shape != ChartSeries::Shape::dots) out += path(series);
    out += "</svg>\n";
    for (const ChartSeries& series : chart_.series)
      if (series.shape == ChartSeries::Shape::dots) out += dots(series);
    return out + "</svg>";
  }

  std::string x_labels() const { return labels(x_, "left", false); }
  std::string y_labels() const { return labels(y_, "top", !chart_.y_from_top); }

 private:
  double place_y(double value) const { return chart_.y_from_top ? y_.at(value) : 1 - y_.at(value); }
  double unit_x(double value) const { return kUnits * x_.at(value); }
  double unit_y(double value) const { return kUnits * place_y(value); }

  static std::string labels(const Axis& axis, std::string_view side, bool upwards) {
    std::string out;
    for (int i = 0; axis.low + i * axis.step <= axis.high * (1 + 1e-9); ++i) {
      const double value = axis.low + i * axis.step;
      out += fmt::format("<span style=\"{}:{:.2f}%\">{:.6g}</span>", side,
                         100 * (upwards ? 1 - axis.at(value) : axis.at(value)), value);
    }
    return out;
  }

  // Widths of lines do not grow with the drawing.
  std::string path(const ChartSeries& series) const {
    if (series.points.empty()) return {};
    std::string out =
        fmt::format("<path class=\"{} {}\" vector-effect=\"non-scaling-stroke\" d=\"",
                    series.shape == ChartSeries::Shape::spans ? "span" : "curve", ink_of(series));
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto [a, b] = series.points[i];
      if (series.shape == ChartSeries::Shape::spans)
        fmt::format_to(std::back_inserter(out), "M{:.1f},{:.1f}H{:.1f}", unit_x(a),
                       unit_y(series.heights[i]), unit_x(b));
      else
        fmt::format_to(std::back_inserter(out), "{}{:.1f},{:.1f}", i == 0 ? 'M' : 'L', unit_x(a),
                       unit_y(b));
    }
    return out + "\"/>\n";
  }

  std::string dots(const ChartSeries& series) const {
    std::string out;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto [x, y] = series.points[i];
      const std::string note = i < series.notes.size() ? series.notes[i] : series.name;
      fmt::format_to(std::back_inserter(out),
                     "<circle class=\"{}\" cx=\"{:.2f}%\" cy=\"{:.2f}%\" r=\"5\"><title>{}</title>"
                     "</circle>\n",
                     ink_of(series), 100 * x_.at(x), 100 * place_y(y), html_text(note));
    }
    return out;
  }

  const Chart& chart_;
  Axis x_, y_;
};

std::string legend(const Chart& chart) {
  std::string out = "<ul class=\"legend\">\n";
  for (const ChartSeries& series : chart.series)
    if (!series.points.empty() && !series.name.empty())
      out += fmt::format(
          "<li><svg width=\"16\" height=\"16\"><circle class=\"{}\" cx=\"8\" cy=\"8\" "
          "r=\"6\"/></svg> "
          "{}</li>\n",
          ink_of(series), html_text(series.name));
  return out + "</ul>\n";
}

}  // namespace

bool Chart::is_empty() const {
  return std::ranges::all_of(series, [](const ChartSeries& one) { return one.points.empty(); });
}

std::string chart_html(const Chart& chart) {
  if (chart.is_empty()) return {};
  const ChartDrawing drawing(chart);
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", html_text(chart.id),
                                html_text(chart.title));
  if (!chart.sentence.empty()) out += fmt::format("<p>{}</p>\n", html_text(chart.sentence));
  out += fmt::format(
      "<div class=\"chart\">\n<div class=\"y-name\">{}</div>\n<div class=\"y-ticks\" "
      "aria-hidden=\"true\">{}</div>\n<div class=\"plot\">{}</div>\n<div class=\"ticks\" "
      "aria-hidden=\"true\">{}</div>\n<div class=\"x-name\">{}</div>\n</div>\n",
      html_text(chart.y), drawing.y_labels(), drawing.svg(), drawing.x_labels(),
      html_text(chart.x));
  return out + legend(chart) + "</section>\n";
}

}  // namespace assay::report
