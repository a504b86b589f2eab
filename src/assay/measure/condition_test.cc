#include "assay/measure/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/op/gemm/gemm.h"

namespace assay::measure {
namespace {

Problem problem(std::vector<std::string> constant) {
  gemm::Shape shape;
  shape.m = 2;
  shape.n = 3;
  shape.k = 4;
  shape.constant = std::move(constant);
  auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

TEST(Condition, DefaultsFollowTheProblem) {
  EXPECT_EQ(condition_for(problem({"b"}), {}).cache, Cache::cold_weights);
  EXPECT_EQ(condition_for(problem({}), {}).cache, Cache::cold);
}

TEST(Condition, WithoutWeightsThereAreNoColdWeights) {
  const auto request = parse_condition("cache=cold_weights");
  ASSERT_TRUE(request);
  EXPECT_EQ(condition_for(problem({}), *request).cache, Cache::cold);
}

TEST(Condition, PartsLeftOutTakeTheDefault) {
  const auto request = parse_condition("spacing=isolated");
  ASSERT_TRUE(request);
  const Condition condition = condition_for(problem({"b"}), *request);
  EXPECT_EQ(condition, (Condition{Cache::cold_weights, Spacing::isolated, Launch::plain}));
}

TEST(Condition, AGpuChainsUnlessItIsToldOtherwiseOrCannot) {
  const auto request = parse_condition("", Place::gpu);
  ASSERT_TRUE(request);
  EXPECT_EQ(condition_for(problem({"b"}), *request).spacing, Spacing::chain);
  EXPECT_EQ(condition_for(problem({"a", "b"}), *request).spacing, Spacing::back_to_back);
  const auto asked = parse_condition("spacing=chain,launch=graph", Place::gpu);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(condition_for(problem({"b"}), {}).spacing, Spacing::back_to_back);
}

TEST(Condition, WhereNothingVariesNothingIsMeasured) {
  EXPECT_TRUE(check_measurable(problem({})));
  EXPECT_TRUE(check_measurable(problem({"b"})));
  const Status refused = check_measurable(problem({"a", "b"}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_input);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("constant"));
}

TEST(Condition, EveryConditionSurvivesJson) {
  for (const Cache cache : {Cache::cold_weights, Cache::cold, Cache::warm})
    for (const Spacing spacing : {Spacing::isolated, Spacing::back_to_back, Spacing::chain})
      for (const Launch launch : {Launch::plain, Launch::graph}) {
        const Condition condition{cache, spacing, launch};
        const auto back = condition_from_json(to_json(condition));
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, condition);
      }
}

TEST(Condition, WhatIsWrongIsNamedWithWhatWouldBeRight) {
  for (const char* text : {"cache=lukewarm", "cache", "cash=cold", "cache=cold,cache=warm", ",",
                           "cache=cold,,", "=", "spacing=chain", "launch=graph"}) {
    const auto request = parse_condition(text);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(request.error().message, ::testing::HasSubstr("condition")) << text;
  }
  EXPECT_THAT(parse_condition("spacing=chain").error().message, ::testing::HasSubstr("GPU"));
  EXPECT_FALSE(condition_from_json(Json::array()));
  EXPECT_FALSE(condition_from_json({{"cache", 3}, {"spacing", "isolated"}, {"launch", "plain"}}));
}

}  // namespace
}  // namespace assay::measure
