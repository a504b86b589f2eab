#include "assay/compare/recompute_attempt.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr double kSame = 1e-9;

bool same(double a, double b) {
  return a == b || std::abs(a - b) <= kSame * std::max({1.0, std::abs(a), std::abs(b)}) ||
         (!std::isfinite(a) && !std::isfinite(b));
}

class Recompute {
 public:
  explicit Recompute(const AttemptRecord& record) : record_(record) {}

  std::vector<Difference> run() {
    const auto decision = decide_again(record_);
    if (!decision || !record_.claim) {
      if (record_.claim || is_decided(record_.outcome))
        add("outcome", std::string(to_string(record_.outcome)), "nothing that was measured");
      return differences_;
    }
    const stats::Verdict &then = *record_.claim, &now = decision->verdict;
    number("ratio", then.ratio, now.ratio);
    number("low end", then.low, now.low);
    number("high end", then.high, now.high);
    if (then.word != now.word)
      add("verdict", std::string(to_string(then.word)), std::string(to_string(now.word)));
    const bool guarded = check_guardrails();
    check_outcome(decision->word, guarded);
    return differences_;
  }

 private:
  void add(std::string what, std::string recorded, std::string recomputed) {
    differences_.push_back({fmt::format("attempt {}", record_.seq), std::move(what),
                            std::move(recorded), std::move(recomputed)});
  }

  void number(const char* what, double recorded, double recomputed) {
    if (!same(recorded, recomputed))
      add(what, fmt::format("{:.9g}", recorded), fmt::format("{:.9g}", recomputed));
  }

  // Whether all of them hold.
  bool check_guardrails() {
    bool all_hold = true;
    for (const AttemptGuardrail& guardrail : record_.guardrails) {
      std::vector<double> ratios;
      for (const AttemptPair& pair : record_.pairs)
        if (const auto found = pair.log_ratios.find(guardrail.metric);
            found != pair.log_ratios.end())
          ratios.push_back(found->second);
      const stats::Guarded now =
          stats::judge_guardrail(ratios, guardrail.tolerance, keep_options(*record_.rules));
      all_hold = all_hold && now.holds;
      number(("guardrail " + guardrail.metric + ", ratio").c_str(), guardrail.ratio, now.ratio);
      number(("guardrail " + guardrail.metric + ", low end").c_str(), guardrail.low, now.low);
      if (guardrail.holds != now.holds)
        add("guardrail " + guardrail.metric, guardrail.holds ? "holds" : "does not hold",
            now.holds ? "holds" : "does not hold");
    }
    return all_hold;
  }

  // What the pairs allow an attempt to be called.
  void check_outcome(stats::KeepWord word, bool guarded) {
    const AttemptOutcome outcome = record_.outcome;
    // A judge that was bent, or a stop, ends an attempt whatever its pairs say.
    if (outcome == AttemptOutcome::violation || outcome == AttemptOutcome::interrupted) return;
    AttemptOutcome expected = AttemptOutcome::discard;
    if (record_.baseline || word == stats::KeepWord::keep)
      expected = AttemptOutcome::keep;
    else if (word == stats::KeepWord::near_tie)
      expected = AttemptOutcome::near_tie;
    if (expected == AttemptOutcome::keep && !guarded) expected = AttemptOutcome::guardrail_failed;
    const bool held_out =
        expected == AttemptOutcome::keep && outcome == AttemptOutcome::holdout_failed;
    if (word == stats::KeepWord::go_on && !record_.baseline)
      add("outcome", std::string(to_string(outcome)), "too few pairs to decide");
    else if (outcome != expected && !held_out)
      add("outcome", std::string(to_string(outcome)), std::string(to_string(expected)));
  }

  const AttemptRecord& record_;
  std::vector<Difference> differences_;
};

}  // namespace

std::vector<Difference> recompute(const AttemptRecord& record) { return Recompute(record).run(); }

}  // namespace assay
