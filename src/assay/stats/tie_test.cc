#include "assay/stats/tie.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Verdict verdict(Word word, double low, double high) {
  return {.word = word,
          .ratio = std::sqrt(low * high),
          .low = low,
          .high = high,
          .margin = 0.01,
          .processes = 7};
}

const Verdict kSame = verdict(Word::same, 0.995, 1.004);
const Verdict kSlightlySlower = verdict(Word::slightly_slower, 0.985, 0.999);
const Verdict kSlower = verdict(Word::slower, 0.95, 0.97);
const Verdict kWide = verdict(Word::unsure, 0.97, 1.03);

TEST(TieTest, StandingAgainstTheLeader) {
  EXPECT_TRUE(tied_with_leader(kSame));
  EXPECT_TRUE(tied_with_leader(kSlightlySlower));
  EXPECT_TRUE(tied_with_leader(verdict(Word::unsure, 0.9805, 1.02)));  // 1 / 1.01^2 = 0.98030
  EXPECT_FALSE(tied_with_leader(verdict(Word::unsure, 0.9802, 1.02)));
  EXPECT_FALSE(tied_with_leader(kSlower));
  EXPECT_EQ(standing(kSlower), Standing::behind);
  EXPECT_EQ(standing(kWide), Standing::unclear);
  EXPECT_EQ(standing(Verdict{}), Standing::unclear);  // No interval at all.
  EXPECT_EQ(standing(verdict(Word::faster, 1.02, 1.03)), Standing::ahead);
  EXPECT_EQ(standing(verdict(Word::slightly_faster, 1.001, 1.03)), Standing::tied);
  EXPECT_EQ(standing(verdict(Word::slightly_slower, 0.90, 0.999)), Standing::behind);
}

TEST(TieTest, TheIncumbentWinsATie) {
  const auto result = break_ties(std::vector<TieCandidate>{
      {.name = "lead"},
      {.name = "old", .against_leader = kSlightlySlower, .incumbent = true, .workspace_bytes = 99},
      {.name = "small", .against_leader = kSame}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->winner, 1u);
  EXPECT_THAT(result->tied, ElementsAre(1, 0, 2));
}

TEST(TieTest, ThenTheSmallerWorkspaceThenTheName) {
  const auto result = break_ties(
      std::vector<TieCandidate>{{.name = "d", .workspace_bytes = 64},
                                {.name = "c", .against_leader = kSame, .workspace_bytes = 0},
                                {.name = "b", .against_leader = kSame, .workspace_bytes = 0},
                                {.name = "a", .against_leader = kSame, .workspace_bytes = 4096}});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->tied, ElementsAre(2, 1, 0, 3));
}

TEST(TieTest, AnIncumbentShownSlowerLoses) {
  const auto result = break_ties(std::vector<TieCandidate>{
      {.name = "old", .against_leader = kSlower, .incumbent = true},
      {.name = "lead"},
      {.name = "noisy", .against_leader = kWide},
      {.name = "better", .against_leader = verdict(Word::faster, 1.02, 1.03)}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->winner, 1u);
  EXPECT_THAT(result->tied, ElementsAre(1));
  EXPECT_THAT(result->unclear, ElementsAre(2));
  EXPECT_THAT(result->ahead, ElementsAre(3));
}

TEST(TieTest, NeedsExactlyOneLeader) {
  EXPECT_FALSE(break_ties({}));
  EXPECT_FALSE(break_ties(std::vector<TieCandidate>{{.name = "a"}, {.name = "b"}}));
  EXPECT_FALSE(break_ties(std::vector<TieCandidate>{{.name = "a", .against_leader = kSame}}));
}

}  // namespace
}  // namespace assay::stats
