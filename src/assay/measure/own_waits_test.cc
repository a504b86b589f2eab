#include "assay/measure/own_waits.h"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

TEST(OwnWaitsTest, WhatMostBurstsWaitIsTheKernelsOwn) {
  OwnWaits waits;
  for (int i = 0; i < 4; ++i) waits.add(20'000, 2);
  EXPECT_EQ(waits.usual_ns(2), 0);  // Too few to tell.
  waits.add(900'000, 2);
  EXPECT_EQ(waits.usual_ns(1), 10'000);
  EXPECT_EQ(waits.usual_ns(3), 30'000);
}

TEST(OwnWaitsTest, WhoeverHasTheCoreInMostBurstsIsNoThreadOfTheKernel) {
  OwnWaits waits;
  for (int i = 0; i < 50; ++i) waits.add(3'000'000, 1);
  EXPECT_EQ(waits.usual_ns(1), 20'000);
}

TEST(OwnWaitsTest, OnlyTheLatestCount) {
  OwnWaits waits;
  for (int i = 0; i < 100; ++i) waits.add(10'000, 1);
  for (int i = 0; i < 31; ++i) waits.add(0, 1);
  EXPECT_EQ(waits.usual_ns(1), 0);
}

}  // namespace
}  // namespace assay::measure
