#include "assay/report/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/record/ceilings.h"
#include "assay/report/document.h"
#include "assay/report/log_axis.h"
#include "assay/report/words.h"

namespace assay::report {
namespace {

// More points than this lie on one another: their numbers would, too.
constexpr std::size_t kMostNumbers = 24;
constexpr double kTickDistance = 14;  // Per cent: room for "100 G" on a narrow screen.

struct Point {
  std::size_t shape = 0;  // From 1: its number beside the mark.
  const ProblemRecord* problem = nullptr;
  const KernelOutcome* kernel = nullptr;
  double intensity = 0;  // FLOP per byte.
  double rate = 0;       // FLOP/s.
  bool winner = false;
};

struct Roofs {
  struct Roof {
    std::string name;
    double value;
  };
  std::vector<Roof> slopes, flats;  // Bytes and operations per second.
};

bool is_drawable(double value) { return std::isfinite(value) && value > 1e-9 && value < 1e30; }

// Shapes are drawn by whose kernel it is, so that colour alone says nothing.
constexpr std::array<std::pair<KernelRole, std::string_view>, 4> kMarks = {{
    {KernelRole::stock, "M-4.5,-4.5 H4.5 V4.5 H-4.5 Z"},
    {KernelRole::ours, "M0,-5.5 A5.5,5.5 0 1 1 0,5.5 A5.5,5.5 0 1 1 0,-5.5 Z"},
    {KernelRole::user, "M0,-6 L5.6,4.5 H-5.6 Z"},
    {KernelRole::reference, "M0,-6 L6,0 L0,6 L-6,0 Z"},
}};

std::string_view mark_of(KernelRole role) {
  for (const auto& [of, path] : kMarks)
    if (of == role) return path;
  return kMarks[0].second;
}

// "20 G": of a tick, which has one digit.
std::string short_si(double value) {
  constexpr std::string_view kPrefixes = "kMGTPE";
  std::size_t prefixes = 0;
  for (; value >= 999.5 && prefixes < kPrefixes.size(); ++prefixes) value /= 1000;
  return prefixes == 0 ? fmt::format("{:g}", value)
                       : fmt::format("{:g} {}", value, kPrefixes[prefixes - 1]);
}

double time_of(const ProblemRecord& problem, const KernelOutcome& kernel) {
  const Conclusion* conclusion = problem.conclusion();
  const double us = conclusion == nullptr ? 0 : conclusion->median_us(kernel.id);
  if (us > 0 || !is_timed(kernel.ending)) return us;
  return kernel.race ? kernel.race->median_us : 0;
}

// The fastest of each role.
std::vector<Point> points_of(const ProblemRecord& problem, std::size_t shape) {
  std::array<const KernelOutcome*, kMarks.size()> best{};
  for (const KernelOutcome& kernel : problem.kernels) {
    const double us = time_of(problem, kernel);
    if (!(us > 0)) continue;
    const KernelOutcome*& held = best[static_cast<std::size_t>(kernel.role)];
    if (held == nullptr || us < time_of(problem, *held)) held = &kernel;
  }
  const KernelOutcome* winner = problem.winner();
  if (winner != nullptr && time_of(problem, *winner) > 0)
    best[static_cast<std::size_t>(winner->role)] = winner;
  std::vector<Point> points;
  for (const KernelOutcome* kernel : best) {
    if (kernel == nullptr) continue;
    Point point{shape,
                &problem,
                kernel,
                problem.flops / problem.bytes,
                problem.flops / time_of(problem, *kernel) * 1e6,
                kernel == winner};
    if (is_drawable(point.intensity) && is_drawable(point.rate)) points.push_back(point);
  }
  return points;
}

// The ceilings of what raced: memory's, and arithmetic of the types of inputs.
Roofs roofs_of(const RunRecord& record) {
  Roofs roofs;
  std::set<std::string> raced;
  for (const ProblemRecord& problem : record.problems) {
    if (const Ceiling* peak =
            arithmetic_ceiling(record.environment.ceilings, first_input_type(problem)))
      raced.insert(peak->name);
  }
  for (const Ceiling& ceiling : record.environment.ceilings) {
    if (!is_drawable(ceiling.value)) continue;
    if (ceiling.unit == "flop/s" && !raced.contains(ceiling.name)) continue;
    auto& list = ceiling.unit == "byte/s" ? roofs.slopes : roofs.flats;
    if (ceiling.unit == "byte/s" || ceiling.unit == "flop/s")
      list.push_back({ceiling.name, ceiling.value});
  }
  return roofs;
}

// Where everything fits: the points, the ridges and the roofs.
std::pair<LogAxis, LogAxis> axes_of(const std::vector<Point>& points, const Roofs& roofs) {
  double left = points.front().intensity, right = left;
  double low = points.front().rate, high = low;
  for (const Point& point : points) {
    left = std::min(left, point.intensity);
    right = std::max(right, point.intensity);
    low = std::min(low, point.rate);
    high = std::max(high, point.rate);
  }
  for (const Roofs::Roof& flat : roofs.flats) {
    low = std::min(low, flat.value);
    high = std::max(high, flat.value);
    for (const Roofs::Roof& slope : roofs.slopes) {
      const double ridge = flat.value / slope.value;
      if (is_drawable(ridge)) right = std::max(right, ridge);
    }
  }
  for (const Roofs::Roof& slope : roofs.slopes) {
    if (const double rate = slope.value * left; is_drawable(rate)) low = std::min(low, rate);
  }
  return {LogAxis(left / 2, right * 3), LogAxis(low / 3, high * 2)};
}

struct Place {
  double x, y;  // Per cent from the left and from the top.
};

// Nobody computes above the roof: what was partly cached is drawn on it, and its title says so.
double highest(const Roofs& roofs, double intensity) {
  double most = 0;
  for (const Roofs::Roof& slope : roofs.slopes) most = std::max(most, slope.value * intensity);
  double flat = 0;
  for (const Roofs::Roof& roof : roofs.flats) flat = std::max(flat, roof.value);
  if (most <= 0 || (flat > 0 && flat < most)) most = flat;
  return most > 0 ? most : std::numeric_limits<double>::infinity();
}

class RoofDrawing {
 public:
  RoofDrawing(const std::vector<Point>& points, const Roofs& roofs)
      : points_(points), roofs_(roofs), axes_(axes_of(points, roofs)) {}

  std::string svg() const {
    std::string out =
        "<svg role=\"img\" aria-label=\"Roofline: FLOP per byte against FLOP per second\">\n";
    for (const double tick : x_ticks()) out += line("grid", {at_x(tick), 0}, {at_x(tick), 100});
    for (const double tick : y_ticks()) out += line("grid", {0, at_y(tick)}, {100, at_y(tick)});
    for (const Roofs::Roof& slope : roofs_.slopes) out += sloping(slope);
    for (const Roofs::Roof& flat : roofs_.flats) out += flat_roof(flat);
    // Winners last: on top.
    for (const bool winner : {false, true})
      for (const Point& point : points_)
        if (point.winner == winner) out += mark(point);
    return out + "</svg>\n";
  }

  std::string x_labels() const {
    std::string out;
    for (const double tick : x_ticks())
      out += fmt::format("<span style=\"left:{:.2f}%\">{:g}</span>", at_x(tick), tick);
    return out;
  }
  std::string y_labels() const {
    std::string out;
    for (const double tick : y_ticks())
      out += fmt::format("<span style=\"top:{:.2f}%\">{}</span>", at_y(tick), short_si(tick));
    return out;
  }

 private:
  double at_x(double intensity) const { return axes_.first.percent_of(intensity); }
  double at_y(double rate) const { return 100 - axes_.second.percent_of(rate); }
  std::vector<double> x_ticks() const { return axes_.first.ticks(decades(), kTickDistance); }
  std::vector<double> y_ticks() const { return axes_.second.ticks(decades(), kTickDistance); }

  static std::string line(std::string_view css, Place from, Place to) {
    return fmt::format(
        "<line class=\"{}\" x1=\"{:.2f}%\" y1=\"{:.2f}%\" x2=\"{:.2f}%\" y2=\"{:.2f}%\"/>\n", css,
        from.x, from.y, to.x, to.y);
  }

  // From where it enters the drawing to the highest flat roof, or to where it leaves.
  std::string sloping(const Roofs::Roof& slope) const {
    const auto& [x, y] = axes_;
    double top = roofs_.flats.empty() ? y.high() : 0;
    for (const Roofs::Roof& flat : roofs_.flats) top = std::max(top, flat.value);
    top = std::min(top, y.high());
    const double from = std::max(x.low(), y.low() / slope.value);
    const double to = std::min(x.high(), top / slope.value);
    if (!(from < to)) return {};
    const Place start{at_x(from), at_y(from * slope.value)}, end{at_x(to), at_y(to * slope.value)};
    return line("roof", start, end);
  }

  std::string flat_roof(const Roofs::Roof& flat) const {
    double from = roofs_.slopes.empty() ? axes_.first.low() : axes_.first.high();
    for (const Roofs::Roof& slope : roofs_.slopes) from = std::min(from, flat.value / slope.value);
    const double y = at_y(flat.value);
    // Names of lines that nearly touch stand side by side.
    constexpr double kLineHeight = 5, kNameWidth = 30;
    double x = 100;
    for (const Roofs::Roof& other : roofs_.flats) {
      if (&other == &flat) break;
      if (std::fabs(at_y(other.value) - y) < kLineHeight) x -= kNameWidth;
    }
    return line("roof", {at_x(from), y}, {100, y}) +
           fmt::format(
               "<text class=\"roof-name\" x=\"{:.2f}%\" y=\"{:.2f}%\" dx=\"-4\" dy=\"-5\" "
               "text-anchor=\"end\">{} {}</text>\n",
               std::max(x, kNameWidth), y, html_text(flat.name), format_si(flat.value, "FLOP/s"));
  }

  std::string mark(const Point& point) const {
    const std::string title = html_text(fmt::format(
        "{}: {}{}, {} us, {}, {} FLOP per byte", point.problem->name, point.kernel->label(),
        point.winner ? " (winner)" : "", microseconds(time_of(*point.problem, *point.kernel)),
        format_si(point.rate, "FLOP/s"), significant(point.intensity)));
    const double roof = highest(roofs_, point.intensity);
    const std::string over = point.rate > roof ? ", above the roof" : "";
    std::string out = fmt::format(
        "<svg x=\"{:.2f}%\" y=\"{:.2f}%\" overflow=\"visible\"><g><title>{}</title><path "
        "class=\"mark "
        "{}{}\" d=\"{}\"/>",
        at_x(point.intensity), at_y(std::min(point.rate, roof)), title + over,
        to_string(point.kernel->role), point.winner ? " winner" : "", mark_of(point.kernel->role));
    if (point.winner && points_.size() <= kMostNumbers * 2 && point.shape <= kMostNumbers)
      out += fmt::format("<text class=\"mark-name\" x=\"8\" y=\"4\">{}</text>", point.shape);
    return out + "</g></svg>\n";
  }

  const std::vector<Point>& points_;
  const Roofs& roofs_;
  std::pair<LogAxis, LogAxis> axes_;
};

std::string legend(const std::vector<Point>& points, const Roofs& roofs) {
  std::string out = "<ul class=\"legend\">\n";
  for (const auto& [role, path] : kMarks) {
    const bool used = std::ranges::any_of(
        points, [role = role](const Point& point) { return point.kernel->role == role; });
    if (!used) continue;
    out += fmt::format(
        "<li><svg width=\"16\" height=\"16\" viewBox=\"-8 -8 16 16\"><path class=\"mark {}\" "
        "d=\"{}\"/></svg> {}</li>\n",
        to_string(role), path,
        role == KernelRole::stock  ? "best stock"
        : role == KernelRole::ours ? "best of assay's own"
        : role == KernelRole::user ? "best of yours"
                                   : "reference");
  }
  out += "<li>filled: the winner</li>\n";
  // Named here: beside their lines they would lie under the marks.
  for (const Roofs::Roof& slope : roofs.slopes)
    out += fmt::format("<li>slope: {} {}</li>\n", html_text(slope.name),
                       format_si(slope.value, "B/s"));
  return out + "</ul>\n";
}

// What the numbers in the drawing stand for.
std::string key(const std::vector<Point>& points) {
  std::string out;
  for (const Point& point : points) {
    if (!point.winner || point.shape > kMostNumbers) continue;
    out += fmt::format("<li value=\"{}\">{}: {}, {}</li>\n", point.shape,
                       html_breakable(point.problem->name), html_breakable(point.kernel->label()),
                       format_si(point.rate, "FLOP/s"));
  }
  if (out.empty() || points.size() > kMostNumbers * 2) return {};
  return "<ol class=\"key\">\n" + out + "</ol>\n";
}

}  // namespace

std::string roofline(const RunRecord& record) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < record.problems.size(); ++i) {
    const std::vector<Point> more = points_of(record.problems[i], i + 1);
    points.insert(points.end(), more.begin(), more.end());
  }
  if (points.empty()) return {};
  const Roofs roofs = roofs_of(record);
  const RoofDrawing drawing(points, roofs);
  std::string out = "<section id=\"roofline\">\n<h2>Roofline</h2>\n";
  out += roofs.slopes.empty() && roofs.flats.empty()
             ? "<p>No ceiling was measured in this run.</p>\n"
             : "<p>Ceilings are the most that this machine was measured to give, of the types that "
               "raced. A kernel whose operands were partly cached stands on the roof.</p>\n";
  out += fmt::format(
      "<div class=\"roofline\">\n<div class=\"y-name\">FLOP/s</div>\n<div class=\"y-ticks\" "
      "aria-hidden=\"true\">{}</div>\n<div class=\"plot\">{}</div>\n<div class=\"ticks\" "
      "aria-hidden=\"true\">{}</div>\n<div class=\"x-name\">FLOP per byte</div>\n</div>\n",
      drawing.y_labels(), drawing.svg(), drawing.x_labels());
  return out + legend(points, roofs) + key(points) + "</section>\n";
}

}  // namespace assay::report
