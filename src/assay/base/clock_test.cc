#include "assay/base/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Clock, NeverGoesBack) {
  std::int64_t last = monotonic_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 0);
}

TEST(Clock, WritesUtcAsIso8601) {
  EXPECT_THAT(utc_now_iso8601(),
              ::testing::MatchesRegex(
                  "20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z"));
}

}  // namespace
}  // namespace assay
