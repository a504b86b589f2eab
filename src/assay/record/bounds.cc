#include "assay/record/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assay/record/plain_verdict.h"

namespace assay {
namespace {

// Neighbours on the same core or the same memory add to processor time, and short bursts escape
// them more often than long ones do. Beside a dozen busy processes on two cores a naive product of
// 120 ms took up to 1.26 times its least processor time, and 6.4 times as long by the clock
// (measured, 40 launches). Twice leaves room for siblings that share one core's units.
constexpr double kNeighbours = 2;

std::int64_t at(const std::vector<std::int64_t>& values, std::size_t round) {
  return round < values.size() ? values[round] : 0;
}

bool is_clean(const KernelSamples& samples, std::size_t round) {
  return round < samples.clean.size() && samples.clean[round] != 0;
}

double per_launch(std::int64_t ns, const KernelSamples& samples) {
  return static_cast<double>(ns) / static_cast<double>(std::max<std::int64_t>(1, samples.launches));
}

// What a launch takes at least with nobody beside it; 0: unknown.
double least_ns(const KernelSamples& samples, std::size_t round, int threads) {
  const std::int64_t outside = at(samples.outside_ns, round);
  if (outside <= 0) return 0;
  const std::int64_t inside = std::min(at(samples.burst_ns, round), outside);
  if (is_clean(samples, round)) return per_launch(inside, samples);
  return per_launch(std::min(outside, at(samples.ran_least_ns, round) / threads), samples);
}

// And at most. Several threads may wait for one another, so that what they ran for says little.
double most_ns(const KernelSamples& samples, std::size_t round, int threads) {
  const std::int64_t outside = at(samples.outside_ns, round), ran = at(samples.ran_most_ns, round);
  if (outside <= 0) return 0;
  const bool ran_alone = threads == 1 && ran > 0 && !is_clean(samples, round);
  return per_launch(ran_alone ? std::min(outside, ran) : outside, samples);
}

// As pair_means() of the rounds that are clean.
std::vector<stats::ProcessMean> bound_means(const Confirmation& confirmation, int threads,
                                            std::string_view slow, std::string_view fast) {
  std::vector<stats::ProcessMean> means;
  for (const ProcessSamples& process : confirmation.processes) {
    const KernelSamples *one = process.find(slow), *two = process.find(fast);
    std::vector<stats::PairedRound> rounds;
    for (std::size_t i = 0; one != nullptr && two != nullptr && i < process.rounds(); ++i)
      rounds.push_back({.candidate_ns = least_ns(*one, i, threads),
                        .other_ns = most_ns(*two, i, threads),
                        .clean = true,
                        .placement = process.placement[i]});
    means.push_back(stats::process_mean(rounds));
  }
  return means;
}

bool may_be_slower(const ProblemRecord& problem, int rules, std::string_view slow,
                   std::string_view fast) {
  const KernelOutcome *one = problem.find(slow), *two = problem.find(fast);
  if (one == nullptr || two == nullptr) return false;
  if (two->role == KernelRole::user)
    return one->role == KernelRole::user && rules >= kRulesOfBoundsBetweenUsers;
  return one->role == KernelRole::user ||
         (one->role == KernelRole::stock && two->role == KernelRole::stock);
}

// exp of the logarithm that the slower side is beyond at least; 0 where that is not beyond doubt.
struct Bound {
  double times = 0;
  int processes = 0;
};
Bound bound_of(const Confirmation& confirmation, const RunOptions& options,
               const stats::JudgeOptions& judging, std::string_view slow, std::string_view fast) {
  const auto means = bound_means(confirmation, std::max(1, options.threads), slow, fast);
  const stats::Verdict verdict = stats::judge(means, judging);
  if (!verdict.has_interval()) return {};
  const double times = 1 / (kNeighbours * verdict.high);
  return times > 1 + judging.margin ? Bound{times, verdict.processes} : Bound{};
}

stats::Verdict verdict_of(stats::Word word, double ratio, const Bound& bound,
                          const stats::JudgeOptions& judging) {
  stats::Verdict verdict;
  verdict.word = word;
  verdict.ratio = ratio;
  (word == stats::Word::slower ? verdict.high : verdict.low) = ratio;
  verdict.margin = judging.margin;
  verdict.systematic = judging.systematic;
  verdict.processes = bound.processes;
  return verdict;
}

}  // namespace

std::optional<stats::Verdict> bounded_verdict(const ProblemRecord& problem,
                                              const Confirmation& confirmation,
                                              const RunOptions& options, std::string_view candidate,
                                              std::string_view other) {
  if (options.rules < kRulesOfBounds) return std::nullopt;
  stats::JudgeOptions judging = judge_options(options, confirmation);
  judging.systematic = std::max(judging.systematic, options.systematic_error_apart);
  if (may_be_slower(problem, options.rules, candidate, other)) {
    const Bound bound = bound_of(confirmation, options, judging, candidate, other);
    if (bound.times > 0) return verdict_of(stats::Word::slower, 1 / bound.times, bound, judging);
  }
  if (may_be_slower(problem, options.rules, other, candidate)) {
    const Bound bound = bound_of(confirmation, options, judging, other, candidate);
    if (bound.times > 0) return verdict_of(stats::Word::faster, bound.times, bound, judging);
  }
  return std::nullopt;
}

double disturbed_launch_ns(const KernelSamples& samples, std::size_t round, int threads) {
  const double most = most_ns(samples, round, std::max(1, threads));
  return most > 0 ? most : per_launch(at(samples.burst_ns, round), samples);
}

}  // namespace assay
