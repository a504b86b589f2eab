#include "assay/lab/files/shape_ranges.h"

#include <set>

#include <gtest/gtest.h>

namespace assay::lab {
namespace {

std::set<std::string> drawn(const char* text, int count) {
  const auto ranges = ShapeRanges::parse(text);
  EXPECT_TRUE(ranges) << ranges.error().message;
  std::set<std::string> all;
  for (int i = 0; ranges && i < count; ++i)
    all.insert(ranges->draw(CounterRandom{.key = 7, .stream = 1}, static_cast<std::uint64_t>(i)));
  return all;
}

TEST(ShapeRangesTest, EveryValueIsDrawnAndNoOther) {
  EXPECT_EQ(drawn("m=1:3,dtype=f32", 200),
            (std::set<std::string>{"m=1,dtype=f32", "m=2,dtype=f32", "m=3,dtype=f32"}));
  EXPECT_EQ(drawn("m=1:9:*2|100", 200),
            (std::set<std::string>{"m=1", "m=2", "m=4", "m=8", "m=100"}));
  EXPECT_EQ(drawn("k=10:35:10", 200), (std::set<std::string>{"k=10", "k=20", "k=30"}));
  EXPECT_EQ(drawn("m=1:64,n=1:64,k=1:64", 40).size(), 40U);
}

TEST(ShapeRangesTest, WhatIsNoRangeIsNamed) {
  for (const char* text : {"", "m", "m=", "m=5:1", "m=1:2:0", "m=1:8:*1", "m=1:2:3:4", "m=0:4",
                           "m=1|", "=4", "m=1:99999999999", "dtype=f32;rm"})
    EXPECT_FALSE(ShapeRanges::parse(text)) << text;
}

}  // namespace
}  // namespace assay::lab
