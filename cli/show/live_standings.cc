#include "cli/show/live_standings.h"

#include <algorithm>

#include <fmt/format.h>

#include "assay/base/text.h"
#include "assay/report/width.h"
#include "assay/report/words.h"

namespace assay::cli {
namespace {

using report::Align;
using report::fit;
using report::pad;
using sweep::Standing;

constexpr double kDeviations = 2.6;  // Of a standard error: about 99 %.
constexpr int kWide = 110;           // From here on there is room for intervals.
constexpr double kFar = 0.10;        // Further behind than that is off the right edge.
constexpr int kOwnIndent = 2, kRole = 14, kTime = 8, kRate = 13, kShare = 10, kBehind = 9;
constexpr int kOut = 4, kSketch = 24, kLeastLabel = 12;

std::string cell(const std::string& text, int width, Align align = Align::left,
                 report::Elide elide = report::Elide::end) {
  return pad(fit(text, width, elide), width, align);
}

double behind(const Standing& standing) { return standing.ratio > 0 ? 1 / standing.ratio - 1 : 0; }

// "+5.8 %", and from twice the leader's time on "43 x".
std::string behind_text(const Standing& standing) {
  const double times = 1 + behind(standing);
  return times < 2 ? fmt::format("{:+.1f} %", behind(standing) * 100)
                   : fmt::format("{:.{}f} x", times, times < 10 ? 1 : 0);
}

class Standings {
 public:
  Standings(const LiveState& state, int width) : state_(state), width_(width) {
    for (const Standing& standing : state.standings) {
      label_ = std::max(label_, report::display_width(safe_label(standing)));
      if (best_stock_ == nullptr && standing.role == KernelRole::stock) best_stock_ = &standing;
    }
    const int numbers = kTime + kRate + kShare + kBehind;
    label_ = std::clamp(width - kOwnIndent - kRole - numbers - (wide() ? kSketch : kOut),
                        kLeastLabel, label_);
    scale();
  }

  // Those with a part first.
  std::vector<std::string> lines(int most) const {
    std::vector<const Standing*> order;
    // Many values of tunables may be the user's, and the race is seen all the same.
    const size_t most_parts = static_cast<size_t>(std::max(3, most / 2));
    for (const bool wanted : {true, false})
      for (const Standing& standing : state_.standings)
        if (has_part(standing, most_parts) == wanted) order.push_back(&standing);
    std::vector<std::string> lines = {titles()};
    for (const Standing* standing : order) {
      const size_t left = order.size() + 1 - lines.size();
      if (static_cast<int>(lines.size()) == most && left > 1) {
        lines.push_back(std::string(kOwnIndent, ' ') + fmt::format("and {} more", left));
        break;
      }
      lines.push_back(line(*standing));
    }
    return lines;
  }

 private:
  bool wide() const { return width_ >= kWide; }
  bool leads(const Standing& standing) const { return &standing == state_.standings.data(); }
  static std::string safe_label(const Standing& standing) { return sanitize(standing.label, 400); }

  bool has_part(const Standing& standing, size_t most) const {
    if (leads(standing) || &standing == best_stock_) return true;
    if (standing.role != KernelRole::user) return false;
    const auto before =
        std::count_if(state_.standings.data(), &standing,
                      [](const Standing& other) { return other.role == KernelRole::user; });
    return static_cast<size_t>(before) + 2 < most;
  }

  std::string part(const Standing& standing) const {
    const std::string_view whose = standing.role == KernelRole::user ? "yours"
                                   : &standing == best_stock_        ? "stock"
                                                                     : "";
    if (!leads(standing)) return std::string(whose);
    return whose.empty() ? "leader" : fmt::format("leader, {}", whose);
  }

  // Where intervals are drawn: from the leader's place to the furthest that is worth showing. One
  // kernel far behind must not press all others together, so it runs off the right edge.
  void scale() {
    double nearest = 0, furthest = 0;
    for (const Standing& standing : state_.standings) {
      if (standing.dropped_after > 0 || leads(standing)) continue;
      const double high = behind(standing) + kDeviations * standing.error;
      nearest = nearest == 0 ? high : std::min(nearest, high);
      furthest = std::max(furthest, high);
      first_ = std::min(first_, behind(standing) - kDeviations * standing.error);
    }
    last_ = std::max({0.01, nearest, std::min(furthest, kFar)});
  }

  std::string row(const std::string& part, const std::string& label, const std::string& us,
                  const std::string& rate, const std::string& share,
                  const std::string& behind) const {
    return std::string(kOwnIndent, ' ') + cell(part, kRole) +
           cell(label, label_, Align::left, report::Elide::middle) + cell(us, kTime, Align::right) +
           cell(rate, kRate, Align::right) + cell(share, kShare, Align::right) +
           cell(behind, kBehind, Align::right);
  }

  std::string titles() const {
    const std::string ceiling =
        state_.roof.ceiling.starts_with("flops") ? "flops" : state_.roof.ceiling;
    return fit(row("role", "kernel", "us", "rate",
                   ceiling.empty() ? "" : "of " + sanitize(ceiling, 20), "behind"),
               width_);
  }

  std::string line(const Standing& standing) const {
    const bool timed = standing.median_us > 0;
    const double seconds = standing.median_us * 1e-6;
    std::string text = row(
        part(standing), safe_label(standing), timed ? report::microseconds(standing.median_us) : "",
        timed
            ? report::rate_text(state_.roof.ceiling, state_.flops / seconds, state_.bytes / seconds)
            : "",
        timed && state_.roof.seconds > 0 ? report::share_text(state_.roof.seconds / seconds) : "",
        leads(standing) ? "" : behind_text(standing));
    if (standing.dropped_after > 0)
      return fit(text + (wide() ? fmt::format("  out after round {}", standing.dropped_after)
                                : std::string(" out")),
                 width_);
    const int room = width_ - report::display_width(text) - 2;
    const double reach = kDeviations * standing.error;
    if (wide() && !leads(standing) && room >= 8 && standing.error > 0)
      text += "  " + interval_text(behind(standing) - reach, behind(standing),
                                   behind(standing) + reach, first_, last_, room);
    return fit(text, width_);
  }

  const LiveState& state_;
  int width_, label_ = kLeastLabel;
  const Standing* best_stock_ = nullptr;
  double first_ = 0, last_ = 0.01;
};

}  // namespace

std::vector<std::string> standings_lines(const LiveState& state, int width, int most) {
  if (state.standings.empty()) return {};
  return Standings(state, width).lines(most);
}

}  // namespace assay::cli
