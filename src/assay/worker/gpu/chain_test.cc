#include "assay/worker/gpu/chain.h"

#include <vector>

#include <gtest/gtest.h>

#include "assay/base/random.h"
#include "testing/test_gpu.h"

namespace assay::sweep {
namespace {

using GpuChainTest = testing::FakeGpuTest;

TEST_F(GpuChainTest, TheProducerWritesWhatItReadsAndNothingElse) {
  const auto chain = GpuChain::create(*device_);
  ASSERT_TRUE(chain) << chain.error().message;
  const CounterRandom random{7, 0};
  for (const size_t size : {size_t{1}, size_t{15}, size_t{16}, size_t{4099}, size_t{3} << 20}) {
    SCOPED_TRACE(size);
    std::vector<std::byte> bytes(size + 16, std::byte{0x5a}), found(size + 16);
    const auto from = device_->allocate(bytes.size(), {});
    const auto to = device_->allocate(bytes.size(), {});
    ASSERT_TRUE(from && to);
    ASSERT_TRUE(device_->copy_in((*to)->data(), bytes));
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random.bits(i));
    ASSERT_TRUE(device_->copy_in((*from)->data(), bytes));
    // The consumer's digest, which the next producer reads, is masked out.
    for (int link = 0; link < 3; ++link) {
      ASSERT_TRUE((*chain)->produce(*stream_, (*to)->data(), (*from)->data(), size));
      ASSERT_TRUE((*chain)->consume(*stream_, (*from)->data(), size, link == 2));
    }
    ASSERT_TRUE(stream_->synchronize());
    ASSERT_TRUE(device_->copy_out(found, (*to)->data()));
    EXPECT_EQ(found, bytes);
  }
}

}  // namespace
}  // namespace assay::sweep
