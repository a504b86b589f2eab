#include <gmock/gmock.h>

#include "assay/sweep/testing/stage_test.h"

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using FindTest = testing::StageTest;

int64_t refused(const Field& field, Reason reason) {
  for (const auto& [why, count] : field.refusals)
    if (why == reason) return count.count;
  return 0;
}

TEST_F(FindTest, ReferencesAreNeverRaced) {
  const auto field =
      find({{"stock"}, {"naive", ProviderRole::reference}, {"mine", ProviderRole::user}});
  ASSERT_TRUE(field) << field.error().message;
  EXPECT_THAT(names(*field), ElementsAre("stock", "mine"));
}

TEST_F(FindTest, ARaceThatForbidsPreparationLeavesOutWhoPacksAndSaysSo) {
  const std::vector<Row> rows = {{"plain"}, {.name = "packs", .prepares = true}};
  request_.question.race_class.preparation = measure::Preparation::allowed;
  EXPECT_THAT(names(find(rows).value()), ElementsAre("plain", "packs"));
  request_.question.race_class.preparation = measure::Preparation::none;
  const auto field = find(rows).value();
  EXPECT_THAT(names(field), ElementsAre("plain"));
  EXPECT_EQ(refused(field, Reason::preparation_class), 1);
}

TEST_F(FindTest, ARaceThatForbidsDependentLaunchesLeavesOutWhoMakesThem) {
  const std::vector<Row> rows = {{"plain"}, {.name = "depends", .dependent_launch = true}};
  EXPECT_THAT(names(find(rows).value()), ElementsAre("plain"));
  request_.question.race_class.dependent_launch = measure::DependentLaunch::allowed;
  EXPECT_THAT(names(find(rows).value()), ElementsAre("plain", "depends"));
}

TEST_F(FindTest, WhatTheWorkerRefusedIsCounted) {
  children_.on<process::Discover>([](const process::Discover&) {
    process::Discover::Answer answer;
    answer.refusals.add(Reason::alignment, 3, "k=100 is not a multiple of 8");
    return answer;
  });
  EXPECT_EQ(refused(find_candidates(station()).value(), Reason::alignment), 3);
}

TEST_F(FindTest, AListingThatIsNoneIsAnErrorThatNamesTheField) {
  children_.lie<process::Discover>({{"kernels", Json::array()}, {"missing", Json::object()}});
  const auto field = find_candidates(station());
  ASSERT_FALSE(field);
  EXPECT_EQ(field.error().code, ErrorCode::machine);
  EXPECT_THAT(field.error().message, HasSubstr("'refusals' is missing"));
}

}  // namespace
}  // namespace assay::sweep
