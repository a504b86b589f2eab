#include "assay/stats/plan_confirm.h"

#include <algorithm>
#include <cmath>

namespace assay::stats {
namespace {

// A within-process error of a quarter of the margin keeps the 99 % interval over seven processes
// (1.4 times their spread) within about a third of the margin where processes agree:
// docs/method.md.
constexpr double kErrorShareOfMargin = 0.25;

// How sure of its distance a kernel must be before it may be measured less precisely.
constexpr double kDistanceErrors = 2;

FinalistTraits traits_of(std::span<const FinalistTraits> traits, int kernel) {
  const auto index = static_cast<std::size_t>(kernel);
  return index < traits.size() ? traits[index] : FinalistTraits{};
}

int round_down(double count, int unit) { return static_cast<int>(std::floor(count / unit)) * unit; }

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

double confirm_spread(std::span<const RaceStanding> standings, std::span<const int> finalists,
                      double margin) {
  const double log_margin = std::log1p(margin);
  double largest = 0;
  for (const RaceStanding& standing : standings) {
    const bool final =
        std::find(finalists.begin(), finalists.end(), standing.kernel) != finalists.end();
    if (!final || !standing.log_ratio || standing.clean_rounds == 0) continue;
    const double distance =
        std::abs(*standing.log_ratio) - kDistanceErrors * standing.standard_error - log_margin;
    const double needed = std::max(log_margin, distance);
    const double clean_share =
        std::min(1.0, static_cast<double>(standing.clean_rounds) / std::max(1, standing.rounds));
    largest = std::max(largest, standing.spread / std::sqrt(clean_share) * log_margin / needed);
  }
  return largest;
}

ConfirmRounds predict_confirm_rounds(double spread, double margin, const ConfirmBudget& budget) {
  const int unit = std::clamp(budget.placements, 1, kMaxConfirmRounds);
  const double error = kErrorShareOfMargin * std::log1p(margin);
  // A spread or margin without meaning asks for the most: more rounds are never wrong.
  const double root = spread / error;
  const double needed = std::isfinite(root) && root >= 0 ? root * root : kMaxConfirmRounds;
  const double clamped = std::clamp<double>(needed, kMinConfirmRounds, kMaxConfirmRounds);
  ConfirmRounds plan;
  plan.wanted = std::min(round_down(kMaxConfirmRounds, unit),
                         static_cast<int>(std::ceil(clamped / unit)) * unit);
  plan.rounds = plan.wanted;
  if (budget.budget_ns > 0 && budget.round_ns > 0) {
    const double one_round = budget.round_ns * std::max(1, budget.processes);
    const double affordable = std::min(budget.budget_ns / one_round, 1.0 * kMaxConfirmRounds);
    if (affordable < plan.wanted) {
      plan.over_budget = affordable < unit;
      plan.rounds = std::max(unit, round_down(affordable, unit));
      plan.cut = plan.rounds < plan.wanted;
    }
  }
  const bool known = std::isfinite(spread) && spread >= 0;
  plan.predicted_standard_error = known ? spread / std::sqrt(static_cast<double>(plan.rounds)) : 0;
  return plan;
}

}  // namespace assay::stats
