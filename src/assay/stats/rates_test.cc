#include "assay/stats/rates.h"

#include <gtest/gtest.h>

namespace assay::stats {
namespace {

TEST(Rates, TheTailOfABinomial) {
  EXPECT_NEAR(chance_of_more({2, 1}, {0, 1}), 0.25, 1e-12);
  EXPECT_NEAR(chance_of_more({1, 1}, {1, 1}), 0.75, 1e-12);
  EXPECT_NEAR(chance_of_more({2, 1}, {0, 3}), 1.0 / 16, 1e-12);
  EXPECT_LT(chance_of_more({35, 100}, {0, 100}), 1e-9);
}

TEST(Rates, WithoutEventsOrExposureNothingIsTold) {
  EXPECT_EQ(chance_of_more({0, 10}, {5, 10}), 1);
  EXPECT_EQ(chance_of_more({5, 0}, {5, 10}), 1);
  EXPECT_EQ(chance_of_more({5, 10}, {5, 0}), 1);
}

TEST(Rates, WhoRunsLongerIsDisturbedMoreOften) {
  // As often per millisecond, ten times as often per burst.
  EXPECT_LT(chance_of_more({50, 100}, {5, 100}), 1e-6);
  EXPECT_GT(chance_of_more({50, 1000}, {5, 100}), 0.1);
}

}  // namespace
}  // namespace assay::stats
