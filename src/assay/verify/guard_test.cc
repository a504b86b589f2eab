#include "assay/verify/guard.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"

namespace assay::verify {
namespace {

class GuardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto device = cpu::open({.threads = 1});
    ASSERT_TRUE(device) << device.error().message;
    device_ = std::move(*device);
  }
  GuardedArena arena(std::vector<size_t> sizes, uint64_t seed = 1) {
    auto made = GuardedArena::allocate(*device_, sizes, seed);
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  std::unique_ptr<Device> device_;
};

TEST_F(GuardTest, BuffersHaveTheirSizesAndTheAlignmentThatProblemsPromise) {
  const std::vector<size_t> sizes = {1, 64, 0, 4097, size_t{3} << 20};
  const GuardedArena made = arena(sizes);
  ASSERT_EQ(made.count(), sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(made.at(i).size(), sizes[i]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.at(i).data()) % 64, 0u);
  }
}

TEST_F(GuardTest, WritingABufferWhollyIsNoTrespass) {
  GuardedArena made = arena({100, 5000, 7});
  for (size_t i = 0; i < made.count(); ++i) std::ranges::fill(made.at(i), std::byte{0xff});
  EXPECT_FALSE(made.find_trespass());
}

TEST_F(GuardTest, EveryByteOfAZoneIsWatchedOnBothSides) {
  GuardedArena made = arena({100, 5000, 7});
  for (size_t i = 0; i < made.count(); ++i) {
    const auto size = static_cast<int64_t>(made.at(i).size());
    for (const int64_t offset : {int64_t{-4096}, int64_t{-1}, size, size + 4095}) {
      std::byte& victim = made.at(i).data()[offset];
      victim = ~victim;
      const auto found = made.find_trespass();
      ASSERT_TRUE(found) << "buffer " << i << " byte " << offset;
      EXPECT_EQ(found->index, i);
      EXPECT_EQ(found->byte, offset);
      EXPECT_EQ(found->changed, 1u);
      EXPECT_FALSE(made.find_trespass()) << "reported once";
    }
  }
}

TEST_F(GuardTest, AnotherSeedPlacesBuffersElsewhere) {
  const GuardedArena one = arena({4096, 4096, 4096, 4096}, 1),
                     two = arena({4096, 4096, 4096, 4096}, 2);
  const auto places = [](const GuardedArena& made) {
    std::vector<uintptr_t> list;
    for (size_t i = 0; i < made.count(); ++i)
      list.push_back(reinterpret_cast<uintptr_t>(made.at(i).data()) % 4096);
    return list;
  };
  EXPECT_NE(places(one), places(two));
}

TEST(Poison, IsFoundWhereItStandsAndNowhereElse) {
  for (const size_t size : {size_t{1}, size_t{8}, size_t{13}, size_t{1000}}) {
    std::vector<std::byte> bytes(size);
    poison(bytes, 7);
    EXPECT_EQ(still_poisoned(bytes, 7), size);
    if (size < 8) continue;
    EXPECT_EQ(still_poisoned(bytes, 8) / 8, 0u);
    bytes[3] = ~bytes[3];
    EXPECT_EQ(still_poisoned(bytes, 7), size - 8) << "a word counts as a whole";
  }
}

}  // namespace
}  // namespace assay::verify
