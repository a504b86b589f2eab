#include "assay/base/ulid.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(UlidTest, TimeComesFirstAndSorts) {
  // The example of the specification.
  EXPECT_EQ(make_ulid(1469918176385)->substr(0, 10), "01ARYZ6S41");
  EXPECT_LT(*make_ulid(1000), *make_ulid(1001));
  EXPECT_NE(*make_ulid(1000), *make_ulid(1000));
}

TEST(UlidTest, OnlyUlidsAreUlids) {
  EXPECT_TRUE(is_ulid(*make_ulid()));
  EXPECT_FALSE(is_ulid(""));
  EXPECT_FALSE(is_ulid("01ARYZ6S41TSV4RRFFQ69G5FA"));
  EXPECT_FALSE(is_ulid("01ARYZ6S41TSV4RRFFQ69G5FAI"));
  EXPECT_FALSE(is_ulid("81ARYZ6S41TSV4RRFFQ69G5FAV"));
}

}  // namespace
}  // namespace assay
