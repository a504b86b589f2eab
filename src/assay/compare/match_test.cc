#include "assay/compare/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/compare/testing/results.h"

namespace assay {
namespace {

using testing::by_hand;
using testing::compared;
using ::testing::ElementsAre;
using testing::file_of;
using ::testing::HasSubstr;

constexpr const char* kTwoConditions = R"({"provider": "base", "results": [
  {"name": "p", "tflops": 1, "runtime_ms": 1, "kernel": "k", "condition": "warm"},
  {"name": "p", "tflops": 1, "runtime_ms": 2, "kernel": "k", "condition": "cold"}]})";

TEST(MatchTest, AbsentFieldsMatchWhenThatIsUnique) {
  const ResultsFile base = file_of(kTwoConditions, "base.json");
  const ResultsFile bare = file_of(
      R"({"provider": "x", "results": [{"name": "p", "tflops": 1, "runtime_ms": 1, "kernel": "k"}]})",
      "bare.json");
  const auto ambiguous = match_results(*base.results, *bare.results);
  ASSERT_FALSE(ambiguous.has_value());
  EXPECT_THAT(ambiguous.error().message, HasSubstr("bare.json:1: 'p' matches both base.json:2"));
  const auto other_way = match_results(*bare.results, *base.results);
  EXPECT_FALSE(other_way.has_value());

  ResultsFile cold = bare;
  cold.results->results[0].condition = "cold";
  const auto matched = match_results(*base.results, *cold.results);
  ASSERT_TRUE(matched.has_value());
  EXPECT_FALSE((*matched)[0].has_value());
  EXPECT_EQ((*matched)[1], 0u);
  EXPECT_THAT(display_keys(*base.results), ElementsAre("p condition=warm", "p condition=cold"));
  EXPECT_THAT(display_keys(*bare.results), ElementsAre("p"));
}

TEST(MatchTest, FieldsThatDifferAreNamed) {
  ResultsFile one = by_hand("base", {{"p", 1}});
  ResultsFile two = by_hand("x", {{"p", 1}});
  one.results->results[0].dtypes = {{"a", "f16"}};
  two.results->results[0].dtypes = {{"a", "bf16"}};
  const Comparison comparison = compared(one, {two});
  EXPECT_THAT(comparison.missing, ElementsAre(HasSubstr("dtype a f16 and bf16")));
  EXPECT_EQ(exit_code(comparison), 3);
}

TEST(MatchTest, TheOneThatAgreesInMoreFieldsIsMeant) {
  const ResultsFile base = file_of(kTwoConditions, "base.json");
  ResultsFile both = base;
  both.results->results[1].condition = "";  // Fits both; the other one says "warm" itself.
  const auto matched = match_results(*base.results, *both.results);
  ASSERT_TRUE(matched.has_value()) << matched.error().message;
  EXPECT_EQ((*matched)[0], 0u);
  EXPECT_EQ((*matched)[1], 1u);
}

}  // namespace
}  // namespace assay
