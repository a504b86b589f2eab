#include "assay/lab/climb/brief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct SomeAttempts {
  HistoryContent content;
  BriefFacts facts;

  SomeAttempts() { facts.series = "s"; }
  Attempt& add(AttemptOutcome outcome, const std::string& family = "") {
    Attempt& attempt = content.attempts.emplace_back();
    attempt.seq = std::ssize(content.attempts);
    attempt.series = "s";
    attempt.family = family;
    attempt.outcome = outcome;
    return attempt;
  }
  std::vector<std::string> said() const { return advice(content, facts); }
};

BriefFacts::Profiled profiled(std::int64_t seq, const std::string& top, double share) {
  BriefFacts::Profiled one;
  one.seq = seq;
  one.profile.buckets = {{.name = top, .share = share}, {.name = "rest", .share = 1 - share}};
  return one;
}

TEST(Advice, NothingIsSaidOfAClimbThatGainsInManyWays) {
  SomeAttempts history;
  EXPECT_THAT(history.said(), IsEmpty());
  history.add(AttemptOutcome::keep).baseline = true;
  history.add(AttemptOutcome::keep, "tiles");
  history.add(AttemptOutcome::discard, "unroll");
  history.add(AttemptOutcome::keep, "packing");
  EXPECT_THAT(history.said(), IsEmpty());
}

TEST(Advice, NearTiesOfOneFamilyAskForADeeperBoundary) {
  SomeAttempts history;
  for (int i = 0; i < 3; ++i) history.add(AttemptOutcome::near_tie, "wrapper");
  EXPECT_THAT(history.said(), Not(Contains(HasSubstr("deeper boundary"))));
  history.add(AttemptOutcome::near_tie, "wrapper");
  EXPECT_THAT(history.said(), Contains(HasSubstr("4 near ties are of the family wrapper")));
}

TEST(Advice, SweepsOfVariablesUnderTheNoiseAreToldToEnd) {
  SomeAttempts history;
  for (int i = 0; i < 4; ++i) history.add(AttemptOutcome::discard).env_only = true;
  EXPECT_THAT(history.said(), ElementsAre(HasSubstr("4 attempts that set variables alone")));
  history.add(AttemptOutcome::keep);
  EXPECT_THAT(history.said(), IsEmpty());
  for (int i = 0; i < 4; ++i) history.add(AttemptOutcome::discard);
  EXPECT_THAT(history.said(), IsEmpty()) << "these changed code";
}

TEST(Advice, ATopOfTheProfileThatStaysIsNamed) {
  SomeAttempts history;
  history.facts.profiles = {profiled(9, "attention", 0.60)};
  EXPECT_THAT(history.said(), IsEmpty());
  history.facts.profiles.push_back(profiled(4, "attention", 0.61));
  EXPECT_THAT(history.said(), ElementsAre(HasSubstr("has not changed between attempts 4 and 9: "
                                                    "attention (60 %), rest (40 %)")));
  history.facts.profiles[1] = profiled(4, "attention", 0.63);
  EXPECT_THAT(history.said(), IsEmpty()) << "three points of the whole less";
  history.facts.profiles[1] = profiled(4, "gemm", 0.62);
  EXPECT_THAT(history.said(), IsEmpty());
}

TEST(Brief, TheNoiseOfTheBaselineStaysWhenItsLineHasLeft) {
  SomeAttempts history;
  Attempt& baseline = history.add(AttemptOutcome::keep);
  baseline.baseline = true;
  baseline.claim = Claim{.word = "same", .ratio = 1.0012, .low = 0.99, .high = 1.02, .pairs = 8};
  for (int i = 0; i < 12; ++i) history.add(AttemptOutcome::discard);
  const std::string text = brief_text(Case(), history.content, history.facts);
  EXPECT_THAT(text, Not(HasSubstr("- 1 **baseline**")));
  EXPECT_THAT(text, HasSubstr("Noise: the baseline (attempt 1) held against itself came out at "
                              "+0.12 %, [-1.00, +2.00], in 8 pairs."));
}

TEST(Brief, OfAFreshCaseNamesNoAttempts) {
  SomeAttempts history;
  EXPECT_THAT(brief_text(Case(), history.content, history.facts), Not(HasSubstr("Last attempts")));
  history.add(AttemptOutcome::keep);
  EXPECT_THAT(brief_text(Case(), history.content, history.facts), HasSubstr("## Last attempts"));
}

TEST(Advice, OldWinsAreToBeTestedAgain) {
  SomeAttempts history;
  history.add(AttemptOutcome::keep).baseline = true;
  for (int i = 0; i < 3; ++i) history.add(AttemptOutcome::keep);
  EXPECT_THAT(history.said(), IsEmpty()) << "two gains behind the first";
  for (int i = 0; i < 2; ++i) history.add(AttemptOutcome::keep);
  EXPECT_THAT(history.said(),
              ElementsAre(AllOf(HasSubstr("attempts 2, 3 won"), HasSubstr("lab reablate"))));
  history.add(AttemptOutcome::discard, "reablate");
  EXPECT_THAT(history.said(), IsEmpty());
}

}  // namespace
}  // namespace assay::lab
