#include "assay/kernel/ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "assay/base/text.h"

namespace assay {
Scores Scorer::score(std::span<const KernelMetadata> rows, const Problem& problem,
                     const DeviceFacts& device) const {
  Scores scores;
  scores.costs.assign(rows.size(), std::numeric_limits<double>::quiet_NaN());
  do_score(rows, problem, device, scores);
  scores.costs.resize(rows.size(), std::numeric_limits<double>::quiet_NaN());
  int64_t without = 0, explained = 0;
  for (double& cost : scores.costs) {
    if (!std::isfinite(cost)) cost = std::numeric_limits<double>::quiet_NaN();
    without += std::isnan(cost) ? 1 : 0;
  }
  for (const auto& [sentence, count] : scores.unscored) explained += count;
  if (without > explained) scores.unscored["it came to no finite cost"] += without - explained;
  return scores;
}

Result<std::unique_ptr<Scorer>> Ranker::open(const ProviderSettings& settings) const {
  auto scorer = do_open(settings);
  if (scorer || info().packages.empty()) return scorer;
  return fail(ErrorCode::unsupported, "{}; install {}, or name the file: --library {}=FILE",
              scorer.error().message, join(info().packages, " or "), info().name);
}

std::vector<size_t> order_of(std::span<const double> costs) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t one, size_t other) {
    const bool has = !std::isnan(costs[one]), has_other = !std::isnan(costs[other]);
    if (!has || !has_other) return has && !has_other;
    return costs[one] < costs[other];
  });
  return order;
}

std::string first_ranker(std::span<const std::unique_ptr<Ranker>> rankers) {
  const auto rank = [](const std::unique_ptr<Ranker>& ranker) { return ranker->info().rank; };
  const auto first = std::ranges::min_element(rankers, {}, rank);
  return first == rankers.end() ? std::string() : (*first)->info().name;
}

}  // namespace assay
