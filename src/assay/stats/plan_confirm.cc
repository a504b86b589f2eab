#include "assay/stats/plan_confirm.h"

#include <algorithm>
#include <cmath>

#include "assay/stats/interval.h"
#include "assay/stats/student.h"

namespace assay::stats {
namespace {

// A within-process error of a quarter of the margin keeps the 99 % interval over seven processes
// (1.4 times their spread) within about a third of the margin where processes agree:
// docs/method.md.
constexpr double kErrorShareOfMargin = 0.25;

// So wide, the interval of two equal kernels lies within the margin with room to spare.
constexpr double kHalfWidthShareOfMargin = 1.0 / 3;

// Where a second stage ends. With an error of a quarter of the margin two equal kernels are `same`
// in nine races of ten.
constexpr double kLaterHalfWidthShareOfMargin = 0.6;

// What is between processes whatever their rounds, as one standard deviation of a log ratio: 0.3 %
// in idle A/A races of `make bench`, of what libraries place once.
constexpr double kBetweenProcesses = 0.003;

FinalistTraits traits_of(std::span<const FinalistTraits> traits, int kernel) {
  const auto index = static_cast<std::size_t>(kernel);
  return index < traits.size() ? traits[index] : FinalistTraits{};
}

// Of means over `processes`.
double half_width(double spread, int processes, int rounds) {
  return student_quantile((1 + kConfidence) / 2, processes - 1) *
         std::hypot(kBetweenProcesses, spread / std::sqrt(std::max(1, rounds))) /
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

double confirm_spread(std::span<const RaceStanding> standings, std::span<const int> finalists) {
  double largest = 0;
  for (const RaceStanding& standing : standings) {
    const bool final =
        std::find(finalists.begin(), finalists.end(), standing.kernel) != finalists.end();
    if (!final || !standing.log_ratio || standing.clean_rounds == 0) continue;
    const double clean_share =
        std::min(1.0, static_cast<double>(standing.clean_rounds) / std::max(1, standing.rounds));
    largest = std::max(largest, standing.spread / std::sqrt(clean_share));
  }
  return largest;
}

ConfirmPlan plan_confirmation(double spread, double margin, const ConfirmBudget& budget) {
  ConfirmPlan plan;
  // A spread or margin without meaning asks for the most: more rounds are never wrong.
  const double root = spread / (kErrorShareOfMargin * std::log1p(margin));
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
  plan.processes = fewest;
  plan.rounds = std::max(1, rounds_of(fewest));
  const bool known = std::isfinite(spread) && spread > 0;
  if (!known || fewest < 2) return plan;
  plan.predicted_half_width = half_width(spread, plan.processes, plan.rounds);
  const double wanted = std::log1p(margin) * kHalfWidthShareOfMargin;
  for (int processes = fewest + 1; processes <= budget.most && plan.predicted_half_width > wanted;
       ++processes) {
    const int rounds = rounds_of(processes);
    if (rounds < kMinConfirmRounds) break;
    const double width = half_width(spread, processes, rounds);
    if (width >= plan.predicted_half_width) continue;
    plan.predicted_half_width = width;
    plan.processes = processes;
    plan.rounds = rounds;
  }
  return plan;
}

int further_processes(const SeenWidth& seen, double margin, int most) {
  const double wanted = std::log1p(margin) * kLaterHalfWidthShareOfMargin;
  if (seen.processes < 2 || !std::isfinite(seen.half_width) || seen.half_width <= wanted ||
      wanted <= seen.shared)
    return 0;
  const auto quantile = [](int processes) {
    return student_quantile((1 + kConfidence) / 2, processes - 1);
  };
  const double own = std::sqrt(seen.half_width * seen.half_width - seen.shared * seen.shared) /
                     quantile(seen.processes) * std::sqrt(seen.processes);
  for (int processes = seen.processes + 1; processes <= most; ++processes)
    if (std::hypot(seen.shared, own * quantile(processes) / std::sqrt(processes)) <= wanted)
      return processes - seen.processes;
  return 0;
}

}  // namespace assay::stats
