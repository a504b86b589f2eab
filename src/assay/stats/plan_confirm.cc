#include "assay/stats/plan_confirm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/stats/student.h"

namespace assay::stats {
namespace {

// A within-process error of a quarter of the margin keeps the 99 % interval over seven processes
// (1.4 times their spread) within about a third of the margin where processes agree:
// docs/method.md.
constexpr double kErrorShareOfMargin = 0.25;

// What is to be resolved, over the half-width that resolves it with room to spare.
constexpr double kResolutions = 3;

// What is between processes whatever their rounds, as one standard deviation of a log ratio: 0.3 %
// in idle A/A races of `make bench`, of what libraries place once.
constexpr double kBetweenProcesses = 0.003;

constexpr double kConfidence = 0.99;

// How sure of its distance a kernel must be before it may be measured less precisely.
constexpr double kDistanceErrors = 2;

FinalistTraits traits_of(std::span<const FinalistTraits> traits, int kernel) {
  const auto index = static_cast<std::size_t>(kernel);
  return index < traits.size() ? traits[index] : FinalistTraits{};
}

// Of means over `processes`, relative to what is to be resolved.
double relative_half_width(const ConfirmNeed& need, double margin, int processes, int rounds) {
  const double between = kBetweenProcesses / need.resolution;
  const double within = need.spread / std::log1p(margin) / std::sqrt(std::max(1, rounds));
  return student_quantile((1 + kConfidence) / 2, processes - 1) * std::hypot(between, within) /
         std::sqrt(processes);
}

}  // namespace

std::vector<int> choose_finalists(std::span<const RaceStanding> standings,
                                  std::span<const FinalistTraits> traits, int further) {
  std::vector<int> finalists;
  const auto add = [&](int kernel) {
    if (std::find(finalists.begin(), finalists.end(), kernel) == finalists.end()) {
      finalists.push_back(kernel);
    }
  };
  if (standings.empty()) return finalists;
  add(standings.front().kernel);
  int seats = further;
  for (const RaceStanding& standing : standings.subspan(1)) {
    if (seats <= 0) break;
    if (standing.dropped_after != 0 || standing.behind || standing.looks_behind) continue;
    add(standing.kernel);
    --seats;
  }
  // By distance alone: a protected stock kernel far behind survives where a better one was dropped.
  std::vector<RaceStanding> stock;
  for (const RaceStanding& standing : standings) {
    if (traits_of(traits, standing.kernel).stock) stock.push_back(standing);
  }
  std::stable_sort(stock.begin(), stock.end(), [](const RaceStanding& a, const RaceStanding& b) {
    if (a.log_ratio.has_value() != b.log_ratio.has_value()) return a.log_ratio.has_value();
    return a.log_ratio.value_or(0) > b.log_ratio.value_or(0);
  });
  for (std::size_t i = 0; i < stock.size() && i < kStockFinalists; ++i) add(stock[i].kernel);
  for (const RaceStanding& standing : standings) {
    if (traits_of(traits, standing.kernel).keep) add(standing.kernel);
  }
  return finalists;
}

ConfirmNeed confirm_need(std::span<const RaceStanding> standings, std::span<const int> finalists,
                         double margin) {
  const double log_margin = std::log1p(margin);
  ConfirmNeed need{0, std::numeric_limits<double>::infinity()};
  for (const RaceStanding& standing : standings) {
    const bool final =
        std::find(finalists.begin(), finalists.end(), standing.kernel) != finalists.end();
    if (!final || !standing.log_ratio || standing.clean_rounds == 0) continue;
    // The leader is at no distance from itself, and resolves nothing.
    if (&standing == &standings.front()) continue;
    const double distance =
        std::abs(*standing.log_ratio) - kDistanceErrors * standing.standard_error - log_margin;
    const double needed = std::max(log_margin, distance);
    const double clean_share =
        std::min(1.0, static_cast<double>(standing.clean_rounds) / std::max(1, standing.rounds));
    need.resolution = std::min(need.resolution, needed);
    need.spread =
        std::max(need.spread, standing.spread / std::sqrt(clean_share) * log_margin / needed);
  }
  return need;
}

ConfirmPlan plan_confirmation(const ConfirmNeed& need, double margin, const ConfirmBudget& budget) {
  ConfirmPlan plan;
  // A spread or margin without meaning asks for the most: more rounds are never wrong.
  const double root = need.spread / (kErrorShareOfMargin * std::log1p(margin));
  const double needed = std::isfinite(root) && root >= 0 ? root * root : kMaxConfirmRounds;
  plan.wanted =
      static_cast<int>(std::ceil(std::clamp<double>(needed, kMinConfirmRounds, kMaxConfirmRounds)));
  const int fewest = std::max(1, budget.fewest);
  const bool limited = budget.budget_ns > 0 && budget.round_ns > 0;
  const double whole = budget.budget_ns + fewest * budget.setup_ns;
  const auto rounds_of = [&](int processes) {
    if (!limited) return plan.wanted;
    const double affordable = (whole / processes - budget.setup_ns) / budget.round_ns;
    return static_cast<int>(std::clamp<double>(affordable, 0, plan.wanted));
  };
  const bool known = need.resolution > 0 && std::isfinite(need.resolution) &&
                     std::isfinite(need.spread) && need.spread >= 0 && margin > 0;
  plan.processes = fewest;
  plan.rounds = std::max(1, rounds_of(fewest));
  if (!known || fewest < 2) return plan;
  double least = relative_half_width(need, margin, plan.processes, plan.rounds);
  for (int processes = fewest + 1; processes <= budget.most && least > 1 / kResolutions;
       ++processes) {
    const int rounds = rounds_of(processes);
    if (rounds < kMinConfirmRounds) break;
    const double width = relative_half_width(need, margin, processes, rounds);
    if (width >= least) continue;
    least = width;
    plan.processes = processes;
    plan.rounds = rounds;
  }
  plan.predicted_half_width = least * need.resolution;
  return plan;
}

}  // namespace assay::stats
