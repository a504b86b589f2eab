#include "assay/base/keyed_random.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;

// RFC 8439, section 2.3.2.
TEST(KeyedRandom, TheBlockIsThatOfTheStandard) {
  std::array<std::uint32_t, 8> key;
  for (std::uint32_t i = 0; i < 8; ++i)
    key[i] = 4 * i | (4 * i + 1) << 8 | (4 * i + 2) << 16 | (4 * i + 3) << 24;
  EXPECT_THAT(chacha20_block(key, 1, {0x09000000, 0x4a000000, 0}),
              ElementsAre(0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
                          0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
                          0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2));
}

TEST(KeyedRandom, OneKeyGivesOneSequenceAndEveryKeyItsOwn) {
  SecretSeed seed{};
  KeyedRandom first(seed), again(seed);
  seed[31] = 1;
  KeyedRandom other(seed);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = first();
    EXPECT_EQ(number, again());
    seen.insert(number);
    seen.insert(other());
  }
  EXPECT_EQ(seen.size(), 2000U);
  EXPECT_NE(KeyedRandom::from_system()(), KeyedRandom::from_system()());
}

TEST(KeyedRandom, ServesTheStandardLibrary) {
  KeyedRandom random = KeyedRandom::from_system();
  std::vector<int> order(100);
  std::iota(order.begin(), order.end(), 0);
  const std::vector<int> before = order;
  std::shuffle(order.begin(), order.end(), random);
  EXPECT_NE(order, before);
  EXPECT_THAT(order, ::testing::UnorderedElementsAreArray(before));
  // Each bit is set about as often as not: 6 standard deviations of 4096 tosses.
  std::array<int, 64> set{};
  for (int i = 0; i < 4096; ++i) {
    const std::uint64_t number = random();
    for (int bit = 0; bit < 64; ++bit) set[bit] += number >> bit & 1;
  }
  for (const int times : set) EXPECT_NEAR(times, 2048, 6 * 32);
}

}  // namespace
}  // namespace assay
