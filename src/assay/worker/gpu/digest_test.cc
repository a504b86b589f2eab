#include "assay/worker/gpu/digest.h"

#include <vector>

#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "testing/test_gpu.h"

namespace assay::sweep {
namespace {

using GpuDigestTest = testing::FakeGpuTest;

TEST_F(GpuDigestTest, EveryByteAndItsPlaceCount) {
  const auto digest = GpuDigest::create(*device_, 5);
  ASSERT_TRUE(digest) << digest.error().message;
  const auto other = GpuDigest::create(*device_, 6);
  ASSERT_TRUE(other) << other.error().message;
  const CounterRandom random{7, 0};
  for (const size_t size : {size_t{1}, size_t{7}, size_t{8}, size_t{4099}, size_t{1} << 20}) {
    SCOPED_TRACE(size);
    std::vector<std::byte> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random.bits(i));
    const auto memory = device_->allocate(size, {});
    ASSERT_TRUE(memory) << memory.error().message;
    const auto of = [&](GpuDigest& made, const std::vector<std::byte>& content) {
      EXPECT_TRUE(device_->copy_in((*memory)->data(), content));
      const auto result = made.of(*stream_, (*memory)->data(), size);
      EXPECT_TRUE(result) << result.error().message;
      return result.value_or(0);
    };
    const uint64_t first = of(**digest, bytes);
    EXPECT_EQ(of(**digest, bytes), first);
    EXPECT_NE(of(**other, bytes), first);
    for (const size_t at : {size_t{0}, size / 2, size - 1}) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= std::byte{1};
      EXPECT_NE(of(**digest, changed), first) << at;
    }
    if (size < 16) continue;
    std::vector<std::byte> swapped = bytes;  // Two words of it.
    std::swap_ranges(swapped.begin(), swapped.begin() + 8, swapped.begin() + 8);
    EXPECT_NE(of(**digest, swapped), first);
  }
}

}  // namespace
}  // namespace assay::sweep
