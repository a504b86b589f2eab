#include "cli/show/live_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "assay/report/words.h"
#include "cli/show/live_standings.h"

namespace assay::cli {
namespace {

using report::fit;

constexpr int kFixedLines = 8;  // All but the standings; their titles included.
// Left and right end of a line; the right one goes where there is no room.
std::string spread(const std::string& left, const std::string& right, int width) {
  const int room = width - report::display_width(left) - report::display_width(right);
  return room < 2 ? left : left + std::string(static_cast<size_t>(room), ' ') + right;
}

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
  for (std::string& line : standings_lines(state, width, std::max(1, height - 1 - kFixedLines)))
    lines.push_back(std::move(line));
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
