#include "assay/kernel/design.h"

#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/kernel/design_space.h"
#include "assay/kernel/testing/toy_family.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

TEST(Design, ComparesValuesAndLacksWhatItLacks) {
  const Design design = {{"tile_m", 32}, {"packed", true}, {"layout", "tt"}, {"ratio", 0.5}};
  EXPECT_TRUE(design["tile_m"] == 32);
  EXPECT_FALSE(design["tile_m"] == 33);
  EXPECT_FALSE(design["tile_n"] == 32);
  EXPECT_TRUE(design["packed"] == true);
  EXPECT_FALSE(design["packed"] == 1) << "truth is not a number";
  EXPECT_TRUE(design["layout"] == "tt");
  EXPECT_TRUE(design["ratio"] == 0.5);
  EXPECT_EQ(design.integer("tile_m", 1), 32);
  EXPECT_EQ(design.integer("layout", 1), 1);
  EXPECT_EQ(design.text("layout", ""), "tt");
  EXPECT_EQ(design.text("tile_m", "none"), "none");
  EXPECT_TRUE(design.truth("packed", false));
}

TEST(Design, KeepsTheOrderAndReplacesWhatIsSetTwice) {
  Design design = {{"z", 1}, {"a", 2}};
  design.set("m", 3);
  design.set("z", 9);
  std::vector<std::string> names;
  for (const auto& [name, value] : design) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("z", "a", "m"));
  EXPECT_TRUE(design["z"] == 9);
  EXPECT_EQ(design.size(), 3u);
}

TEST(Design, SettingACopyLeavesTheOriginal) {
  const Design original = {{"a", 1}};
  Design copy = original;
  copy.set("a", 2);
  EXPECT_TRUE(original["a"] == 1);
  EXPECT_FALSE(original == copy);
  copy.set("a", 1);
  EXPECT_TRUE(original == copy);
  EXPECT_FALSE(original == Design());
}

TEST(DesignAxes, NumbersRowsWithTheLastAxisFastest) {
  const DesignAxes axes({axis("a", {1, 2}), preset({"b", "c"}, {{10, 100}, {20, 200}, {30, 300}})});
  ASSERT_TRUE(axes.valid());
  ASSERT_EQ(axes.rows(), 6u);
  std::vector<int64_t> seen;
  for (uint64_t row = 0; row < axes.rows(); ++row) {
    seen.push_back(std::get<int64_t>(axes.value(0, row)) * 1000 +
                   std::get<int64_t>(axes.value(1, row)) + std::get<int64_t>(axes.value(2, row)));
  }
  EXPECT_THAT(seen, ElementsAre(1110, 1220, 1330, 2110, 2220, 2330));
}

TEST(DesignAxes, WithoutAxesHasOneRowAndWithoutChoicesNone) {
  EXPECT_EQ(DesignAxes({}).rows(), 1u);
  const DesignAxes none({axis("a", {1, 2}), axis("b", {})});
  EXPECT_TRUE(none.valid());
  EXPECT_EQ(none.rows(), 0u);
}

TEST(DesignAxes, RefusesWhatNamesNoRow) {
  EXPECT_FALSE(DesignAxes({axis("a", {1}), axis("a", {2})}).valid());
  EXPECT_FALSE(DesignAxes({axis("", {1})}).valid());
  EXPECT_FALSE(DesignAxes({preset({"a", "b"}, {{1, 2}, {3}})}).valid());
  EXPECT_FALSE(DesignAxes({preset({"a"}, {{1, 2}})}).valid());
  std::vector<DesignAxis> huge;
  for (int i = 0; i < 9; ++i) {
    std::vector<Value> values;
    for (int value = 0; value < 1000; ++value) values.emplace_back(int64_t{value});
    huge.push_back(axis("axis" + std::to_string(i), std::move(values)));
  }
  EXPECT_FALSE(DesignAxes(std::move(huge)).valid());
}

std::vector<std::string> row_names(const DesignSpace& space, RefusalCounts* refusals = nullptr,
                                   const Problem* problem = nullptr) {
  std::vector<std::string> names;
  space.enumerate(Query(problem, nullptr, refusals),
                  [&](const KernelMetadata& row) { names.push_back(row.name()); });
  return names;
}

TEST(DesignSpace, GivesTheRowsThatConstraintsLeaveInOrder) {
  std::vector<DesignGroup> groups;
  groups.push_back(
      {.traits = {.name = "{m}x{n}", .rule = testing::shared(testing::gemm_rule())},
       .axes = {axis("m", {1, 2, 3}), axis("n", {1, 2, 3})},
       .constraints = {[](const Design& d) { return d.integer("m", 0) * d.integer("n", 0) <= 4; },
                       [](const Design& d) { return !(d["m"] == 1) || !(d["n"] == 1); }}});
  groups.push_back({.traits = {.name = "fixed", .rule = testing::shared(testing::gemm_rule())}});
  const DesignSpace space(std::move(groups));
  EXPECT_THAT(row_names(space), ElementsAre("1x2", "1x3", "2x1", "2x2", "3x1", "fixed"));
  EXPECT_EQ(space.size(), 6);
}

TEST(DesignSpace, CountsWhatARuleKeepsOutWithoutMakingIt) {
  int asked = 0;
  std::vector<DesignGroup> groups = testing::toy_groups(testing::gemm_rule(DType::f64));
  groups[0].constraints.push_back([&](const Design& d) {
    ++asked;
    return !(d["tile_m"] == 16);
  });
  const DesignSpace space(std::move(groups));
  const auto problem = gemm::problem(gemm::Shape{.m = 4, .n = 4, .k = 4});
  ASSERT_TRUE(problem) << problem.error().message;
  RefusalCounts refusals;
  EXPECT_TRUE(row_names(space, &refusals, &*problem).empty());
  EXPECT_EQ(refusals.total(), 2) << "the row that the constraint rejects does not exist";
  EXPECT_EQ(refusals.begin()->first, Reason::dtype);
  EXPECT_TRUE(row_names(space, &refusals, &*problem).empty());
  EXPECT_EQ(asked, 3) << "constraints are asked once";
}

TEST(DesignSpace, TellsOfAxesThatAreNotValid) {
  std::vector<DesignGroup> groups = testing::toy_groups();
  groups[0].axes.push_back(axis("tile_m", {1}));
  RefusalCounts refusals;
  EXPECT_TRUE(row_names(DesignSpace(std::move(groups)), &refusals).empty());
  EXPECT_EQ(refusals.total(), 1);
}

}  // namespace
}  // namespace assay
