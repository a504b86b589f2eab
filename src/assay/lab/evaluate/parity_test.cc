#include "assay/lab/evaluate/parity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using ::testing::HasSubstr;

ParityAnswers read(const char* text) { return *read_parity_answers(text, "answers"); }

TEST(ParityTest, TokensMustBeEqual) {
  const auto reference = read(R"({"id":"a","tokens":[1,2,3]})");
  EXPECT_TRUE(compare_parity(reference, reference, 0).holds);
  EXPECT_THAT(compare_parity(reference, read(R"({"id":"a","tokens":[1,9,3]})"), 0).reason,
              HasSubstr("token 1: 9 in the place of 2"));
  EXPECT_FALSE(compare_parity(reference, read(R"({"id":"a","tokens":[1,2]})"), 0).holds);
  EXPECT_FALSE(compare_parity(reference, read(R"({"id":"b","tokens":[1,2,3]})"), 0).holds);
  EXPECT_FALSE(compare_parity({}, {}, 0).holds);
}

TEST(ParityTest, ACloseCallMayGoEitherWayAndEndsTheComparison) {
  const auto reference = read(R"({"id":"a","tokens":[1,2,3],"logits":[[9,1],[5.0,4.99],[9,1]]})");
  const auto other = read(R"({"id":"a","tokens":[1,7,8]})");
  EXPECT_TRUE(compare_parity(reference, other, 0.02).holds);
  EXPECT_FALSE(compare_parity(reference, other, 0.001).holds);
}

TEST(ParityTest, ToleranceIsTwiceWhatOneTreeDiffersFromItself) {
  const auto first = read(R"({"id":"a","tokens":[1],"logits":[[2.0,1.0]]})");
  const auto second = read(R"({"id":"a","tokens":[1],"logits":[[2.25,1.0]]})");
  EXPECT_DOUBLE_EQ(parity_tolerance(first, second), 0.5);
}

TEST(ParityTest, BrokenAnswersAreSaidWithTheirLine) {
  EXPECT_THAT(read_parity_answers("{\"id\":\"a\",\"tokens\":[1]}\nnonsense\n", "x").error().message,
              HasSubstr("x:2"));
}

}  // namespace
}  // namespace assay::lab
