#include "assay/record/problem_row.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"winner", "tied", "behind"};

VerdictOf whose(const Conclusion& conclusion, const std::string& candidate) {
  if (candidate == conclusion.winner) return VerdictOf::winner;
  return std::ranges::find(conclusion.tied, candidate) == conclusion.tied.end() ? VerdictOf::behind
                                                                                : VerdictOf::tied;
}

}  // namespace

std::string_view to_string(VerdictOf whose) { return kNames[static_cast<std::size_t>(whose)]; }

std::string ProblemRow::marks() const {
  std::string text;
  if (verdict == nullptr) return text;
  if (is_stock) text += '+';
  if (of == VerdictOf::tied) text += '~';
  if (of == VerdictOf::behind) text += '^';
  if (is_normwise) text += '#';
  return text;
}

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
