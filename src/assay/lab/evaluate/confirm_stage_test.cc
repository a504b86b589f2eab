#include "assay/lab/evaluate/confirm_stage.h"

#include <gtest/gtest.h>

namespace assay::lab {
namespace {

AttemptPair pair(bool counts) {
  AttemptPair one;
  if (counts) one.log_ratios["gemm.weighted_us"] = 0.01;
  one.log_ratios["single.us"] = 0.0;
  return one;
}

TEST(ConfirmStageTest, ALookIsSpoiledWhenNoPairHasTheObjective) {
  const std::vector<AttemptPair> none = {pair(false), pair(false)}, one = {pair(false), pair(true)};
  EXPECT_TRUE(is_spoiled(none, "gemm.weighted_us"));
  EXPECT_FALSE(is_spoiled(one, "gemm.weighted_us"));
  EXPECT_FALSE(is_spoiled({}, "gemm.weighted_us")) << "time was over before the look began";
}

}  // namespace
}  // namespace assay::lab
