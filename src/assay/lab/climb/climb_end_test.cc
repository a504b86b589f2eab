#include "assay/lab/climb/climb_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string end_of(const ClimbState& state) {
  ClimbOptions options;
  options.seconds = 100;
  return reason_to_end(Case(), options, HistoryContent(), state);
}

TEST(ClimbEndTest, AMachineThatOthersUseEndsItLongBeforeItsTimeIsOver) {
  ClimbState state;
  state.spoiled = 2;
  EXPECT_THAT(end_of(state), IsEmpty());
  state.spoiled = 3;
  EXPECT_THAT(end_of(state), HasSubstr("others were at work while 3 attempts in a row"));
}

TEST(ClimbEndTest, AnAgentThatFailsThreeTimesEndsIt) {
  ClimbState state;
  state.failures = 3;
  EXPECT_THAT(end_of(state), HasSubstr("the agent failed 3 times in a row"));
}

}  // namespace
}  // namespace assay::lab
