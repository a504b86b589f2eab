#include "cli/live_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "assay/report/words.h"

namespace assay::cli {
namespace {

using report::Align;
using report::fit;
using report::pad;

constexpr int kFixedLines = 7;                   // All but the standings.
constexpr double kDeviations = 2.6;              // Of a standard error: about 99 %.
constexpr int kSketch = 30, kNarrowSketch = 18;  // Columns of the intervals, at least.
constexpr int kIndent = 3;
constexpr double kFar = 0.10;  // Further behind than that is off the right edge.
constexpr int kTimes = 10, kRate = 13, kBehind = 10;

std::string cell(const std::string& text, int width, Align align = Align::left,
                 report::Elide elide = report::Elide::end) {
  return pad(fit(text, width, elide), width, align);
}

// Left and right end of a line; the right one goes where there is no room.
std::string spread(const std::string& left, const std::string& right, int width) {
  const int room = width - report::display_width(left) - report::display_width(right);
  return room < 2 ? left : left + std::string(static_cast<size_t>(room), ' ') + right;
}

// Work per byte tells which of the two rates means something.
std::string rate_text(const LiveState& state, double us) {
  constexpr double kBalance = 8;  // FLOP per byte, about where CPUs turn from memory to arithmetic.
  if (us <= 0 || state.bytes <= 0) return {};
  return state.flops / state.bytes < kBalance ? format_si(state.bytes / us * 1e6, "B/s")
                                              : format_si(state.flops / us * 1e6, "FLOP/s");
}

double behind(const sweep::Standing& standing) {
  return standing.ratio > 0 ? 1 / standing.ratio - 1 : 0;
}

// Where the intervals are drawn: from the leader's place to the furthest that is worth showing. One
// kernel far behind must not press all others together, so it runs off the right edge.
class Standings {
 public:
  Standings(const LiveState& state, int width) : state_(state), width_(width) {
    const int numbers = kTimes + kBehind + (wide() ? kRate : 0);
    label_ = std::max(16, width - kIndent - numbers - (wide() ? kSketch : kNarrowSketch) - 2);
    int longest = 16;
    for (const sweep::Standing& standing : state.standings)
      longest = std::max(longest, report::display_width(sanitize(standing.label, 400)));
    label_ = std::min(label_, longest);
    double nearest = 0, furthest = 0;
    for (const sweep::Standing& standing : state.standings) {
      if (standing.dropped_after > 0 || &standing == state.standings.data()) continue;
      const double high = behind(standing) + kDeviations * standing.error;
      nearest = nearest == 0 ? high : std::min(nearest, high);
      furthest = std::max(furthest, high);
      first_ = std::min(first_, behind(standing) - kDeviations * standing.error);
    }
    last_ = std::max({0.01, nearest, std::min(furthest, kFar)});
  }

  std::string line(const sweep::Standing& standing, bool leader) const {
    std::string text = std::string(kIndent, ' ') + cell(sanitize(standing.label, 400), label_,
                                                        Align::left, report::Elide::middle);
    text += cell(standing.median_us > 0 ? report::microseconds(standing.median_us) + " us" : "",
                 kTimes, Align::right);
    if (wide()) text += cell(rate_text(state_, standing.median_us), kRate, Align::right);
    if (leader && standing.dropped_after == 0) return fit(text + "   leader", width_);
    text += cell(fmt::format("{:+.1f} %", behind(standing) * 100), kBehind, Align::right);
    if (standing.dropped_after > 0)
      return fit(text + fmt::format("  out after round {}", standing.dropped_after), width_);
    const int room = width_ - report::display_width(text) - 2;
    const double reach = kDeviations * standing.error;
    if (room >= 8 && standing.error > 0)
      text += "  " + interval_text(behind(standing) - reach, behind(standing),
                                   behind(standing) + reach, first_, last_, room);
    return fit(text, width_);
  }

 private:
  bool wide() const { return width_ >= 100; }

  const LiveState& state_;
  int width_, label_;
  double first_ = 0, last_ = 0.01;
};

// What fits of: what is run, on what, how.
std::string header(const LiveState& state, int width) {
  const std::string title = sanitize(state.title, 200), machine = sanitize(state.machine, 200);
  const std::string full = fmt::format("{}   {}   {}", title, machine, state.condition);
  if (report::display_width(full) <= width) return full;
  return fmt::format("{}  {}  {}", title, machine, state.condition);
}

}  // namespace

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::max(0.0, seconds));
  const std::int64_t hours = whole / 3600, minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string bar_text(double share, int columns) {
  const int inside = std::max(1, columns - 2);
  const int full = std::clamp(static_cast<int>(std::lround(share * inside)), 0, inside);
  std::string bar = "[" + std::string(static_cast<size_t>(full), '=');
  if (full > 0 && full < inside) bar.back() = '>';
  return bar + std::string(static_cast<size_t>(inside - full), '-') + ']';
}

std::string interval_text(double low, double middle, double high, double first, double last,
                          int columns) {
  std::string line(static_cast<size_t>(std::max(1, columns)), ' ');
  const auto place = [&](double value) {
    const double share = last > first ? (value - first) / (last - first) : 0;
    return static_cast<size_t>(
        std::clamp(std::lround(share * (columns - 1)), 0L, static_cast<long>(columns) - 1));
  };
  const size_t from = place(low), to = place(high);
  for (size_t i = from; i <= to; ++i) line[i] = '-';
  line[from] = '|';
  line[to] = '|';
  line[place(middle)] = middle > last ? '>' : 'o';
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string live_text(const LiveState& state, int width, int height) {
  std::vector<std::string> lines;
  lines.push_back(header(state, width));
  const std::string times = fmt::format(
      "  {}/{} shape{}   {}{}", state.done, state.problems, state.problems == 1 ? "" : "s",
      clock_text(state.elapsed), state.left > 0 ? ", " + clock_text(state.left) + " left" : "");
  lines.push_back(bar_text(state.progress, width - report::display_width(times)) + times);
  lines.emplace_back();
  if (!state.shape.empty()) {
    const auto running =
        std::count_if(state.standings.begin(), state.standings.end(),
                      [](const sweep::Standing& standing) { return standing.dropped_after == 0; });
    const std::string doing =
        state.standings.empty() || !state.doing.empty()
            ? sanitize(state.doing, 200)
            : fmt::format("{} of {} kernels still running", running, state.standings.size());
    const std::string left =
        fmt::format("{}   {}", fit(sanitize(state.shape, 200), width * 2 / 3), state.stage);
    lines.push_back(spread(
        left,
        fit(doing, std::max(10, width - report::display_width(left) - 2), report::Elide::middle),
        width));
  }
  const Standings standings(state, width);
  const int room = std::max(1, height - 1 - kFixedLines);
  for (size_t i = 0; i < state.standings.size(); ++i) {
    const auto more = static_cast<int>(state.standings.size() - i);
    if (static_cast<int>(i) == room - 1 && more > 1) {
      lines.push_back(fmt::format("   and {} more", more));
      break;
    }
    lines.push_back(standings.line(state.standings[i], i == 0));
  }
  lines.push_back(fmt::format("refused {}   wrong {}   crashed {}   dropped {}",
                              report::thousands(state.refused), state.wrong, state.crashed,
                              state.dropped));
  if (!state.last_fall.empty()) lines.push_back(sanitize(state.last_fall, 400));
  if (!state.load.empty()) lines.push_back(sanitize(state.load, 200));

  std::string text;
  int count = 0;
  for (const std::string& line : lines) {
    if (++count > height - 1) break;
    text += fit(line, width) + '\n';
  }
  return text;
}

}  // namespace assay::cli
