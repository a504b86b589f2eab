#include "assay/timing/approaches.h"

#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr double kSeenNs = 1e12;

TEST(ApproachesTest, TheLongestMedianIsEqualled) {
  Approaches approaches;
  EXPECT_EQ(approaches.least_ns(), 0);
  for (const int64_t ms : {2, 3, 19}) approaches.add(1, ms * kMs, kSeenNs);
  for (const int64_t ms : {1, 8, 8}) approaches.add(2, ms * kMs, kSeenNs);
  EXPECT_EQ(approaches.least_ns(), 8 * kMs);
  for (int burst = 0; burst < 100; ++burst) approaches.add(2, 5 * kMs, kSeenNs);
  EXPECT_EQ(approaches.least_ns(), 5 * kMs) << "it got faster";
}

TEST(ApproachesTest, WhatIsShortIsNotAndNobodyWaitsForLong) {
  Approaches approaches;
  approaches.add(1, kMs / 10, kSeenNs);
  EXPECT_EQ(approaches.least_ns(), 0);
  approaches.add(2, 500 * kMs, kSeenNs);
  EXPECT_EQ(approaches.least_ns(), 20 * kMs);
}

// A process that tells of more than passed would slow down all others.
TEST(ApproachesTest, NobodyIsBelievedMoreThanWasSeen) {
  Approaches approaches;
  approaches.add(1, 15 * kMs, 2e6);
  EXPECT_EQ(approaches.least_ns(), 2 * kMs);
}

}  // namespace
}  // namespace assay::sweep
