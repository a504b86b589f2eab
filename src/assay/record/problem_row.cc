#include "assay/record/problem_row.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"winner", "tied", "behind"};
constexpr std::array<std::string_view, 5> kParts = {"winner", "yours", "candidate", "stock",
                                                    "default"};

VerdictOf whose(const Conclusion& conclusion, const std::string& candidate) {
  if (candidate == conclusion.winner) return VerdictOf::winner;
  return std::ranges::find(conclusion.tied, candidate) == conclusion.tied.end() ? VerdictOf::behind
                                                                                : VerdictOf::tied;
}

// The kernel of the user's that is least behind the leader, or leads.
const KernelOutcome* best_of_users(const ProblemRecord& problem, const Conclusion& conclusion) {
  const KernelOutcome* best = nullptr;
  double least = 0;
  for (const Conclusion::Time& time : conclusion.times) {
    const KernelOutcome* kernel = problem.find(time.id);
    if (kernel == nullptr || kernel->role != KernelRole::user || time.median_us <= 0) continue;
    if (best != nullptr && time.median_us >= least) continue;
    best = kernel;
    least = time.median_us;
  }
  return best;
}

class Parts {
 public:
  explicit Parts(const ProblemRecord& problem)
      : problem_(problem),
        conclusion_(*problem.conclusion()),
        baseline_(problem.decisive()->baseline) {}

  void add(const std::string& id, const PairVerdict* verdict = nullptr) {
    const KernelOutcome* kernel = problem_.find(id);
    const auto is_there = [&](const PartRow& row) { return row.kernel == kernel; };
    if (kernel == nullptr || std::ranges::any_of(rows_, is_there)) return;
    const double us = conclusion_.median_us(id);
    const double winner_us = conclusion_.median_us(conclusion_.winner);
    rows_.push_back({part_of(*kernel, verdict != nullptr), kernel, us, conclusion_.is_disturbed(id),
                     us > 0 ? problem_.ceiling_share * winner_us / us : 0, verdict});
  }

  std::vector<PartRow> take() { return std::move(rows_); }

 private:
  PartOf part_of(const KernelOutcome& kernel, bool has_verdict) const {
    if (kernel.id == conclusion_.winner) return PartOf::winner;
    if (kernel.role == KernelRole::user) return PartOf::yours;
    if (has_verdict) return PartOf::candidate;
    const bool best = std::ranges::any_of(rows_, [&](const PartRow& row) {
      return row.verdict != nullptr && row.verdict->other == kernel.id &&
             row.kernel->role != KernelRole::stock;
    });
    return !best && kernel.id == baseline_ ? PartOf::standard : PartOf::stock;
  }

  const ProblemRecord& problem_;
  const Conclusion& conclusion_;
  const std::string& baseline_;
  std::vector<PartRow> rows_;
};

}  // namespace

std::string_view to_string(PartOf part) { return kParts[static_cast<std::size_t>(part)]; }

std::vector<PartRow> parts_of(const ProblemRecord& problem, Defaults defaults) {
  const Conclusion* conclusion = problem.conclusion();
  if (conclusion == nullptr) return {};
  Parts parts(problem);
  if (const PairVerdict* verdict = problem.headline()) {
    parts.add(verdict->candidate, verdict->is_of_itself() ? nullptr : verdict);
    parts.add(verdict->other);
  }
  parts.add(conclusion->winner);
  if (problem.headline() == nullptr)
    for (const Conclusion::Time& time : conclusion->times)
      if (const KernelOutcome* kernel = problem.find(time.id);
          kernel != nullptr && kernel->role == KernelRole::user)
        parts.add(time.id);
  if (const KernelOutcome* best = best_of_users(problem, *conclusion)) parts.add(best->id);
  if (defaults == Defaults::always) parts.add(problem.decisive()->baseline);
  return parts.take();
}

std::string_view to_string(VerdictOf whose) { return kNames[static_cast<std::size_t>(whose)]; }

ProblemRow row_of(const ProblemRecord& problem) {
  ProblemRow row;
  const Conclusion* conclusion = problem.conclusion();
  if (conclusion == nullptr) return row;
  row.winner = problem.winner();
  if (row.winner != nullptr) row.us = conclusion->median_us(row.winner->id);
  row.verdict = problem.headline();
  if (row.verdict == nullptr) return row;
  const std::string& candidate = row.verdict->candidate;
  const KernelOutcome* kernel = problem.find(candidate);
  row.verdict_us = conclusion->median_us(candidate);
  row.is_stock = kernel != nullptr && kernel->role == KernelRole::stock;
  row.is_normwise = kernel != nullptr && kernel->is_normwise();
  if (row.winner != nullptr) row.of = whose(*conclusion, candidate);
  return row;
}

}  // namespace assay
