#include <algorithm>

#include "assay/record/record.h"

namespace assay {
namespace {

// The fastest stock kernel of those that were confirmed; 0 if none was.
double best_stock_us(const ProblemRecord& problem, const Conclusion& conclusion) {
  double best = 0;
  for (const Conclusion::Time& time : conclusion.times) {
    const KernelOutcome* kernel = problem.find(time.id);
    if (kernel == nullptr || kernel->role != KernelRole::stock || time.median_us <= 0) continue;
    best = best == 0 ? time.median_us : std::min(best, time.median_us);
  }
  return best;
}

// Tokens of the pass that a problem belongs to. Those of an expert are fewer, and it is of the one
// pass that a run with experts has.
std::int64_t pass_of(const ProblemRecord& problem, const std::vector<ModelTime>& times) {
  const bool of_expert = problem.role.starts_with("expert_") && !times.empty();
  return of_expert ? times.back().m : problem.dimension("m", 0);
}

void add(ModelTime& total, const ProblemRecord& problem) {
  total.calls += problem.weight;
  if (!total.missing.empty()) return;
  const Confirmation* confirmation = problem.decisive();
  const KernelOutcome* winner = problem.winner();
  if (confirmation == nullptr || winner == nullptr) {
    total.missing = problem.name + " has no winner";
    return;
  }
  const Conclusion& conclusion = confirmation->conclusion;
  const double by_default = conclusion.median_us(confirmation->baseline);
  const double stock = best_stock_us(problem, conclusion);
  const double best = conclusion.median_us(winner->id);
  if (by_default <= 0 || stock <= 0 || best <= 0) {
    total.missing = problem.name + " has no stock kernel to compare with";
    return;
  }
  total.default_us += problem.weight * by_default;
  total.best_stock_us += problem.weight * stock;
  // A winner by tie-break may be slower than those that it ties with, by noise.
  total.best_us += problem.weight * std::min(best, stock);
}

}  // namespace

std::vector<ModelTime> model_times(const RunRecord& record) {
  const bool weighted =
      !record.options.model.empty() ||
      std::ranges::any_of(record.problems, [](const auto& problem) { return problem.weight != 1; });
  std::vector<ModelTime> times;
  if (!weighted) return times;
  for (const ProblemRecord& problem : record.problems) {
    const std::int64_t m = pass_of(problem, times);
    auto found = std::ranges::find(times, m, &ModelTime::m);
    if (found == times.end()) {
      times.emplace_back().m = m;
      found = times.end() - 1;
    }
    add(*found, problem);
  }
  for (ModelTime& time : times) {
    if (!time.missing.empty()) time.default_us = time.best_stock_us = time.best_us = 0;
  }
  return times;
}

}  // namespace assay
