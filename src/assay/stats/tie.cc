#include "assay/stats/tie.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace assay::stats {
namespace {

// The widest that a tie may be, in margins: docs/method.md.
constexpr double kTieMargins = 2;

}  // namespace

Standing standing(const Verdict& verdict) {
  if (verdict.word == Word::faster) return Standing::ahead;
  if (verdict.word == Word::slower) return Standing::behind;
  const bool near =
      verdict.has_interval() && std::log(verdict.low) > -kTieMargins * std::log1p(verdict.margin);
  if (near) return Standing::tied;
  return verdict.word == Word::slightly_slower ? Standing::behind : Standing::unclear;
}

bool tied_with_leader(const Verdict& verdict) { return standing(verdict) == Standing::tied; }

std::optional<TieResult> break_ties(std::span<const TieCandidate> candidates) {
  TieResult result;
  int leaders = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& verdict = candidates[i].against_leader;
    if (!verdict) {
      ++leaders;
      result.tied.push_back(i);
      continue;
    }
    switch (standing(*verdict)) {
      case Standing::tied:
        result.tied.push_back(i);
        break;
      case Standing::unclear:
        result.unclear.push_back(i);
        break;
      case Standing::ahead:
        result.ahead.push_back(i);
        break;
      case Standing::behind:
        break;
    }
  }
  if (leaders != 1) return std::nullopt;
  const auto by_name = [&](std::size_t left, std::size_t right) {
    return candidates[left].name < candidates[right].name;
  };
  std::sort(result.unclear.begin(), result.unclear.end(), by_name);
  std::sort(result.ahead.begin(), result.ahead.end(), by_name);
  std::sort(result.tied.begin(), result.tied.end(), [&](std::size_t left, std::size_t right) {
    const auto key = [&](std::size_t i) {
      const TieCandidate& candidate = candidates[i];
      return std::make_tuple(!candidate.incumbent, candidate.workspace_bytes,
                             std::string_view(candidate.name));
    };
    return key(left) < key(right);
  });
  result.winner = result.tied.front();
  return result;
}

}  // namespace assay::stats
