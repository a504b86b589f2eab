#include "assay/measure/stop_copy.h"

#include <vector>

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

using Bytes = std::vector<std::byte>;

TEST(StopCopy, TellsWhatChangedAfterItWasTaken) {
  Bytes first(100), second(100);
  const std::span<const std::byte> outputs[] = {first, second};
  StopCopy copy;
  copy.aim(outputs);
  first[3] = std::byte{1};  // Of the launch itself.
  EXPECT_FALSE(copy.differs());
  copy.take();
  EXPECT_LT(copy.first(), 2U);
  EXPECT_FALSE(copy.differs());
  second[99] = std::byte{1};
  EXPECT_TRUE(copy.differs());
  copy.drop();
  EXPECT_FALSE(copy.differs());
}

TEST(StopCopy, WithoutAnAimNothingIsCopied) {
  StopCopy copy;
  copy.take();
  EXPECT_FALSE(copy.taken());
}

TEST(StopCopy, AnyPartOfALargeOutputIsLookedAt) {
  Bytes output(3 * StopCopy::kMostBytes);
  const std::span<const std::byte> outputs[] = {output};
  const auto seen_at = [&](size_t byte) {
    int seen = 0;
    for (int burst = 0; burst < 200; ++burst) {
      StopCopy copy;
      copy.aim(outputs);
      copy.take();
      output[byte] ^= std::byte{1};
      seen += copy.differs() ? 1 : 0;
    }
    return seen;
  };
  EXPECT_GT(seen_at(output.size() / 2), 20);
  EXPECT_GT(seen_at(StopCopy::kMostBytes / 2), 2);
  EXPECT_GT(seen_at(output.size() - StopCopy::kMostBytes / 2), 2);
}

}  // namespace
}  // namespace assay::measure
