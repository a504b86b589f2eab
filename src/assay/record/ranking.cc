#include "assay/record/ranking.h"

#include <limits>

#include "assay/record/record.h"

namespace assay {
namespace {

double raced_us(const KernelOutcome& kernel) {
  if (!is_timed(kernel.ending) || !kernel.race) return 0;
  return kernel.race->median_us;
}

// The fastest of those for which `takes` holds; null where none was timed.
template <class Takes>
const KernelOutcome* fastest(const ProblemRecord& problem, const Takes& takes) {
  const KernelOutcome* best = nullptr;
  for (const KernelOutcome& kernel : problem.kernels)
    if (raced_us(kernel) > 0 && takes(kernel) &&
        (best == nullptr || raced_us(kernel) < raced_us(*best)))
      best = &kernel;
  // What was confirmed was timed with more care than what was raced.
  const Conclusion* conclusion = problem.conclusion();
  if (conclusion == nullptr) return best;
  const KernelOutcome* confirmed = nullptr;
  for (const KernelOutcome& kernel : problem.kernels) {
    const double us = conclusion->median_us(kernel.id);
    if (us > 0 && takes(kernel) &&
        (confirmed == nullptr || us < conclusion->median_us(confirmed->id)))
      confirmed = &kernel;
  }
  return confirmed != nullptr ? confirmed : best;
}

// How far `first` is behind `best`.
double behind(const ProblemRecord& problem, const KernelOutcome& first, const KernelOutcome& best) {
  const Conclusion* conclusion = problem.conclusion();
  if (conclusion != nullptr) {
    const double one = conclusion->median_us(first.id), other = conclusion->median_us(best.id);
    if (one > 0 && other > 0) return one / other - 1;
  }
  const double one = raced_us(first), other = raced_us(best);
  return one > 0 && other > 0 ? one / other - 1 : std::numeric_limits<double>::infinity();
}

}  // namespace

std::vector<RankerHindsight> hindsight(const ProblemRecord& problem) {
  std::vector<RankerHindsight> list;
  if (!problem.ranking) return list;
  for (const RankingRecord::Asked& asked : problem.ranking->rankers) {
    if (asked.scored == 0) continue;
    RankerHindsight of{.ranker = asked.name, .scored = asked.scored};
    const auto rank = [&](const KernelOutcome& kernel) -> std::int64_t {
      const auto found = kernel.ranks.find(asked.name);
      return found == kernel.ranks.end() ? 0 : found->second;
    };
    if (const KernelOutcome* winner = problem.winner()) of.winners_rank = rank(*winner);
    const KernelOutcome* best =
        fastest(problem, [&](const KernelOutcome& kernel) { return rank(kernel) > 0; });
    if (problem.ranking->not_built == 0 && best != nullptr) {
      const KernelOutcome* first = fastest(problem, [&](const KernelOutcome& kernel) {
        return rank(kernel) > 0 && rank(kernel) <= kRecalled;
      });
      of.behind = first == nullptr ? std::numeric_limits<double>::infinity()
                                   : behind(problem, *first, *best);
      of.recalled = of.behind <= kRecallWithin;
    }
    list.push_back(std::move(of));
  }
  return list;
}

}  // namespace assay
