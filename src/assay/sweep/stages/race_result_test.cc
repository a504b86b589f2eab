#include "assay/sweep/stages/race_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;

RaceResult confirmed_once() {
  RaceResult race;
  race.finalists = {"first", "second", "stock"};
  race.leader = race.candidate = "first";
  race.baseline = "stock";
  return race;
}

TEST(RaceResultTest, TheVerdictOfAFurtherConfirmationIsOfItsLeader) {
  RaceResult race = confirmed_once();
  put_in_front(race, "second", true);
  EXPECT_THAT(race.finalists, ElementsAre("second", "first", "stock"));
  EXPECT_EQ(race.leader, "second");
  EXPECT_EQ(race.candidate, "second");
}

TEST(RaceResultTest, UnlessItMayNotBe) {
  RaceResult race = confirmed_once();
  put_in_front(race, "stock", false);
  EXPECT_THAT(race.finalists, ElementsAre("stock", "first", "second"));
  EXPECT_EQ(race.leader, "stock");
  EXPECT_EQ(race.candidate, "first");
}

}  // namespace
}  // namespace assay::sweep
