#pragma once

// Whether a changed program is kept in the place of the one before it. Both are measured in pairs,
// side by side; after some of the pairs one looks, and stops as soon as enough is known.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/stats/verdict.h"

namespace assay::stats {

struct KeepOptions {
  double min_effect = 0.005;             // The least gain that is worth a change, as a fraction.
  std::vector<int> looks = {8, 16, 32};  // After how many pairs, rising.
  // Of each attempt: so that a climb of 200 attempts that all change nothing keeps any in at most
  // one climb of 40 (Bonferroni's inequality).
  double false_keeps = 0.025 / 200;
  double trim_fraction = 0.125;  // Of the pairs, at each end: a spoiled pair must not decide.
  double systematic = 0;         // As in JudgeOptions.
};

enum class KeepWord { go_on, keep, near_tie, discard };
std::string_view to_string(KeepWord word);

struct KeepDecision {
  KeepWord word = KeepWord::go_on;
  Verdict verdict;     // At this look's confidence; its margin is min_effect.
  std::string reason;  // A sentence.
  // The smallest gain that the last look would keep in four of five such measurements, as a
  // fraction; infinite where there are too few pairs to say.
  double smallest_keepable = 0;
};

// The share of false_keeps that a look may spend: 0.1, 0.3, 0.6 of three. It grows with the number
// of the look, since the last ones have the pairs to decide by.
double spending_share(int look, int looks);

// log_ratios: of each pair, above 0 where the candidate is better. With as many pairs as a look
// asks for, that look's decision; with fewer than the first, go_on. budget_over: no more pairs can
// be taken, so the look is the last.
// keep: the low end lies above 1 and the ratio reaches 1 + min_effect. discard: the one-sided 80 %
// bound of the gain lies under min_effect, or at the last look the estimate is not above 0.
// near_tie: at the last look, anything else.
KeepDecision decide_keep(std::span<const double> log_ratios, const KeepOptions& options,
                         bool budget_over = false);

// A regression of a guardrail is refused unless the one-sided 95 % bound of the loss lies within
// the tolerance (a fraction). log_ratios as above.
struct Guarded {
  bool holds = false;
  double ratio = 1;
  double low = 0;      // The bound: the ratio is above it with a confidence of 95 %.
  std::string reason;  // Why it does not hold; empty where it does.
};
Guarded judge_guardrail(std::span<const double> log_ratios, double tolerance,
                        const KeepOptions& options);

}  // namespace assay::stats
