#include "assay/sweep/run_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;

TEST(RunFacts, OfACalmCardNothingHasToBeKnown) {
  EXPECT_TRUE(findings_of(CardWindow{.samples = 2}).empty());
}

TEST(RunFacts, AThrottledAndSharedCardIsSaid) {
  CardWindow busy{.samples = 4};
  busy.throttled["power cap"] = 0.25;
  busy.strangers.push_back({.pid = 1});
  const auto findings = findings_of(busy);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].code, "throttled");
  EXPECT_THAT(findings[0].sentence, HasSubstr("25 % of the samples: power cap"));
  busy.throttled["power cap"] = 0.004;
  EXPECT_THAT(findings_of(busy)[0].sentence, HasSubstr("in under 1 % of the samples"));
  EXPECT_EQ(findings[1].code, "card_shared");
  EXPECT_THAT(findings[1].sentence, HasSubstr("process 1"));
}

TEST(RunFacts, WhatNobodyWatchedIsSaid) {
  const auto findings = findings_of(CardWindow{.unwatched = "no such card"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "card_unwatched");
  EXPECT_THAT(findings[0].sentence, HasSubstr("no such card"));
}

}  // namespace
}  // namespace assay::sweep
