#include "assay/measure/cold_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::measure {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr size_t kCache = size_t{32} << 20;

TEST(ColdProbe, ReadsThatAreNoSlowerThanWarmOnesAreInDoubt) {
  EXPECT_THAT(doubt_of_cold({100, 100}, 4096, kCache), HasSubstr("100 ns cold and 100 ns warm"));
  EXPECT_THAT(doubt_of_cold({120, 100}, 4096, kCache), HasSubstr("120 ns cold"));
  EXPECT_THAT(doubt_of_cold({200, 100}, 4096, kCache), IsEmpty());
}

TEST(ColdProbe, WhatNoCacheCanKeepNeedsNoProof) {
  EXPECT_THAT(doubt_of_cold({100, 100}, kCache, kCache), IsEmpty());
  EXPECT_THAT(doubt_of_cold({100, 100}, kCache / 4, kCache), HasSubstr("cold"));
}

TEST(ColdProbe, ACacheOfUnknownSizeIsNoExcuse) {
  EXPECT_THAT(doubt_of_cold({100, 100}, size_t{1} << 30, 0), HasSubstr("cold"));
}

TEST(ColdProbe, ReadsEveryRegion) {
  const std::vector<std::byte> memory(1 << 20);
  const std::vector<Regions> sets(3, Regions{memory, memory});
  const ColdProbe probe = probe_reads(sets);
  EXPECT_GT(probe.cold_ns, 0);
  EXPECT_GT(probe.warm_ns, 0);
  EXPECT_EQ(probe_reads({}).cold_ns, 0);
}

}  // namespace
}  // namespace assay::measure
