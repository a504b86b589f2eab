#include "assay/measure/output_digest.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

std::vector<OutputPart> parts_of(uint64_t drawn, size_t outputs, size_t bytes) {
  std::vector<OutputPart> parts;
  for_each_part(drawn, outputs, bytes, [&](const OutputPart& part) { parts.push_back(part); });
  return parts;
}

bool has(const std::vector<OutputPart>& parts, size_t output, size_t byte) {
  return std::ranges::any_of(parts, [&](const OutputPart& part) {
    return part.output == output && part.offset <= byte && byte < part.offset + part.bytes;
  });
}

TEST(OutputDigest, SmallOutputsAreSeenWhole) {
  const auto parts = parts_of(draw_unknown(), 3, 100);
  for (size_t output = 0; output < 3; ++output) {
    EXPECT_TRUE(has(parts, output, 0));
    EXPECT_TRUE(has(parts, output, 99));
  }
}

TEST(OutputDigest, TellsBytesThatChanged) {
  std::vector<std::byte> first(100), second(100);
  const auto digest = [&] {
    OutputDigest both(7);
    both.add(first);
    both.add(second);
    return both.value();
  };
  const uint64_t before = digest();
  EXPECT_EQ(digest(), before);
  second[99] = std::byte{1};
  EXPECT_NE(digest(), before);
}

TEST(OutputDigest, AnyPartOfALargeOutputMayBeSeen) {
  constexpr size_t kBytes = 3 * kMostDigestBytes;
  const auto seen_at = [&](size_t byte) {
    int seen = 0;
    for (int burst = 0; burst < 200; ++burst) {
      const auto parts = parts_of(draw_unknown(), 1, kBytes);
      EXPECT_EQ(parts.size(), 1U);
      EXPECT_LE(parts.front().offset + parts.front().bytes, kBytes);
      seen += has(parts, 0, byte) ? 1 : 0;
    }
    return seen;
  };
  EXPECT_GT(seen_at(kBytes / 2), 20);
  EXPECT_GT(seen_at(kMostDigestBytes / 2), 2);
  EXPECT_GT(seen_at(kBytes - kMostDigestBytes / 2), 2);
}

TEST(OutputDigest, EachOfManyOutputsMayBeTheFirst) {
  std::vector<bool> first(8);
  for (int burst = 0; burst < 400; ++burst)
    first[parts_of(draw_unknown(), 8, kMostDigestBytes).front().output] = true;
  EXPECT_EQ(std::ranges::count(first, true), 8);
}

}  // namespace
}  // namespace assay::measure
