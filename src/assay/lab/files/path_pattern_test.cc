#include "assay/lab/files/path_pattern.h"

#include <gtest/gtest.h>

namespace assay::lab {
namespace {

TEST(PathPatternTest, OneStarStopsAtASlashAndTwoDoNot) {
  EXPECT_TRUE(matches("benchmarks/a/b.yaml", "benchmarks/**"));
  EXPECT_FALSE(matches("benchmarks/a/b.yaml", "benchmarks/*"));
  EXPECT_TRUE(matches("benchmarks/b.yaml", "benchmarks/*.yaml"));
  EXPECT_FALSE(matches("workspace/benchmarks/b.yaml", "benchmarks/**"));
  EXPECT_TRUE(matches("MY_THREADS", "MY_*"));
  EXPECT_FALSE(matches("NOT_MY_THREADS", "MY_*"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("a", ""));
}

}  // namespace
}  // namespace assay::lab
