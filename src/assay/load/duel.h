#pragma once

// Two servers against each other: pairs of short runs, of which each has one seed and an order
// drawn at random. One pair is one sample.

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/random.h"
#include "assay/base/result.h"
#include "assay/stats/verdict.h"

namespace assay::load {

// After so many pairs the verdict is looked at; each look spends its share of what may be wrong.
inline constexpr std::array<int, 3> kLooks = {8, 16, 32};
inline constexpr std::array<double, 3> kSpent = {0.1, 0.3, 0.6};

struct DuelPair {
  std::uint64_t seed = 0;
  bool candidate_first = false;
  double candidate = 0, other = 0;  // The metric's values.
  double log_ratio = 0;             // Above 0: the candidate is better.
};

struct Duel {
  std::vector<DuelPair> pairs;
  stats::Verdict verdict;
};

// "ttft_ms.median": less is better. "output_throughput_tok_s": more is.
bool less_is_better(std::string_view metric);

// The metric's value in a run of the candidate or of the other under this seed.
using Measure = std::function<Result<double>(bool candidate, std::uint64_t seed)>;

// Until a word is clear, or the last look. `on_pair` is told of each pair.
Result<Duel> run_duel(std::string_view metric, double margin, std::uint64_t seed,
                      const Measure& measure, const std::function<void(const Duel&)>& on_pair);

Json duel_json(const Duel& duel, std::string_view metric);

}  // namespace assay::load
