#include "assay/base/checked.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Checked, GivesResultsThatFit) {
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_sub(kLeast + 1, 1), kLeast);
  EXPECT_EQ(checked_mul(1ll << 31, 1ll << 31), 1ll << 62);
  EXPECT_EQ(checked_product({2, 3, 7}), 42);
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product({0, kMost, kMost}), 0);
}

TEST(Checked, GivesNothingOnOverflow) {
  EXPECT_EQ(checked_add(kMost, 1), std::nullopt);
  EXPECT_EQ(checked_sub(kLeast, 1), std::nullopt);
  EXPECT_EQ(checked_mul(1ll << 32, 1ll << 31), std::nullopt);
  EXPECT_EQ(checked_mul(kLeast, -1), std::nullopt);
  EXPECT_EQ(checked_product({1ll << 40, 1ll << 40, 1}), std::nullopt);
}

}  // namespace
}  // namespace assay
