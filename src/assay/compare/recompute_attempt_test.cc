#include "assay/compare/recompute_attempt.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// A change that gained 2 % in each of eight pairs, with a guardrail that holds.
AttemptRecord kept() {
  AttemptRecord record;
  record.id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
  record.seq = 3;
  record.rules = AttemptRules{.metric = "run.us",
                              .direction = "minimize",
                              .unit = "us",
                              .min_effect = 0.005,
                              .looks = {8, 16},
                              .false_keeps = 0.025 / 200,
                              .trim_fraction = 0.125};
  for (int i = 0; i < 8; ++i)
    record.pairs.push_back(
        {.number = i, .log_ratios = {{"run.us", 0.02 + 0.0001 * i}, {"run.mib", 0.0001 * i}}});
  const auto decision = decide_again(record);
  record.claim = decision->verdict;
  record.outcome = AttemptOutcome::keep;
  std::vector<double> memory;
  for (int i = 0; i < 8; ++i) memory.push_back(0.0001 * i);
  const auto guarded = stats::judge_guardrail(memory, 0.01, keep_options(*record.rules));
  record.guardrails.push_back({"run.mib", 0.01, guarded.ratio, guarded.low, guarded.holds, ""});
  return record;
}

TEST(RecomputeAttemptTest, WhatThePairsSayHolds) { EXPECT_TRUE(recompute(kept()).empty()); }

TEST(RecomputeAttemptTest, EachEditIsRefuted) {
  const auto refuted = [](auto edit) {
    AttemptRecord record = kept();
    edit(record);
    return !recompute(record).empty();
  };
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.outcome = AttemptOutcome::near_tie; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.outcome = AttemptOutcome::guardrail_failed; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.claim->ratio = 1.5; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.claim->low += 1e-6; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.pairs[3].log_ratios["run.us"] = 0.0207; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.pairs.clear(); }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.rules.reset(); }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.guardrails[0].holds = false; }));
  EXPECT_TRUE(refuted([](AttemptRecord& r) { r.guardrails[0].ratio = 1.1; }));
}

TEST(RecomputeAttemptTest, WhatThePairsCannotSayIsLeft) {
  AttemptRecord held_out = kept();
  held_out.outcome = AttemptOutcome::holdout_failed;
  EXPECT_TRUE(recompute(held_out).empty());
  AttemptRecord broken;
  broken.outcome = AttemptOutcome::build_failed;
  EXPECT_TRUE(recompute(broken).empty());
  AttemptRecord invented;
  invented.outcome = AttemptOutcome::keep;
  EXPECT_FALSE(recompute(invented).empty());
}

}  // namespace
}  // namespace assay
