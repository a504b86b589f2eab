#include "assay/lab/evaluate/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay::lab {
namespace {

using ::testing::HasSubstr;

Benchmark benchmark() {
  Benchmark one;
  one.name = "decode";
  return one;
}

TEST(MetricsTest, ObjectsBecomeDottedNamesAndTruthsAreFlags) {
  const auto metrics =
      flatten(Json{{"gemm", {{"time_us", 12}}}, {"ok", true}, {"name", "x"}, {"list", {1, 2}}},
              benchmark());
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_EQ(metrics->values.at("decode.gemm.time_us").value, 12);
  EXPECT_EQ(metrics->values.at("decode.gemm.time_us").unit, "us");
  EXPECT_EQ(metrics->values.at("decode.list.1").value, 2);
  EXPECT_TRUE(metrics->flags.at("decode.ok"));
  EXPECT_FALSE(metrics->values.contains("decode.ok"));
  EXPECT_EQ(metrics->texts.at("decode.name"), "x");
}

TEST(MetricsTest, ListsAreReducedAsTheRuleSays) {
  Benchmark one = benchmark();
  one.metrics["samples_us"].reduce = {"median", "p99", "max"};
  const auto metrics = flatten(Json{{"samples_us", {5, 1, 3}}}, one);
  ASSERT_TRUE(metrics) << metrics.error().message;
  EXPECT_EQ(metrics->values.at("decode.samples_us.median").value, 3);
  EXPECT_EQ(metrics->values.at("decode.samples_us.p99").value, 5);
  EXPECT_EQ(metrics->values.at("decode.samples_us.count").value, 3);
}

TEST(MetricsTest, WhatIsRequiredIsANumber) {
  Benchmark one = benchmark();
  one.require = {"time"};
  EXPECT_THAT(flatten(Json{{"time", nullptr}}, one).error().message, HasSubstr("it is null"));
  EXPECT_THAT(flatten(Json{{"time", true}}, one).error().message, HasSubstr("it is no number"));
  EXPECT_THAT(flatten(Json::object(), one).error().message, HasSubstr("it is not there"));
  EXPECT_TRUE(flatten(Json{{"time", 1}}, one));
}

TEST(MetricsTest, TwoValuesOfOneNameAreAnError) {
  EXPECT_THAT(flatten(Json{{"a", {{"b", 1}}}, {"a.b", 2}}, benchmark()).error().message,
              HasSubstr("two values have this name"));
}

TEST(MetricsTest, BeyondAFloorNothingIsBelieved) {
  Benchmark one = benchmark();
  one.metrics["us"].floor = 10;
  one.metrics["us"].direction = Direction::minimize;
  EXPECT_TRUE(flatten(Json{{"us", 10}}, one));
  EXPECT_EQ(flatten(Json{{"us", 9.9}}, one).error().code, ErrorCode::unsupported);
}

TEST(MetricsTest, TheLastObjectOfAnOutputIsTheResult) {
  EXPECT_EQ((*last_json_object("{\"a\":1}\n{\"a\":2}\ndone\n"))["a"], 2);
  EXPECT_EQ((*last_json_object("progress {x}\n{\"a\":{\"b\":\"}\"}}"))["a"]["b"], "}");
  EXPECT_FALSE(last_json_object("no object"));
  EXPECT_FALSE(last_json_object(std::string(100'000, '}')));
}

}  // namespace
}  // namespace assay::lab
