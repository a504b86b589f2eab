#include "assay/worker/gpu/zones.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/worker/gpu/arena.h"
#include "testing/device_code.h"
#include "testing/test_gpu.h"

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;
using GpuZonesTest = testing::FakeGpuTest;

TEST(GpuZonesCodeTest, AssemblesForEveryGpuThatItMayMeet) {
  if (!testing::can_assemble()) GTEST_SKIP() << "no ptxas: it comes with the CUDA toolkit";
  testing::expect_assembles(zones_code);
}

TEST_F(GpuZonesTest, EachSideOfEachBufferIsWatchedAndReportedOnce) {
  const auto zones = GpuZones::create(*device_, *stream_);
  ASSERT_TRUE(zones) << zones.error().message;
  const size_t sizes[] = {1000, 0, 4097};
  auto arena = GpuArena::allocate(**zones, sizes, 5);
  ASSERT_TRUE(arena) << arena.error().message;
  const auto what = [](size_t index) { return "buffer " + std::to_string(index); };
  const auto found = [&] { return arena->find_trespass(what).value_or("no answer"); };
  EXPECT_EQ(found(), "");
  const std::byte bytes[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  for (size_t i = 0; i < arena->count(); ++i) {
    auto* const start = static_cast<std::byte*>(arena->at(i).data);
    ASSERT_TRUE(device_->copy_in(start - sizeof bytes, bytes));
    EXPECT_THAT(found(), HasSubstr("bytes written before buffer " + std::to_string(i)));
    EXPECT_EQ(found(), "") << "it was repaired";
    ASSERT_TRUE(device_->copy_in(start + sizes[i] + GpuZones::kZoneBytes - sizeof bytes, bytes));
    EXPECT_THAT(found(), HasSubstr("bytes written behind buffer " + std::to_string(i)));
    EXPECT_EQ(found(), "");
    if (sizes[i] >= sizeof bytes) {
      ASSERT_TRUE(device_->copy_in(start, bytes));
      ASSERT_TRUE(device_->copy_in(start + sizes[i] - sizeof bytes, bytes));
      EXPECT_EQ(found(), "") << "what is a buffer's may be written";
    }
  }
}

}  // namespace
}  // namespace assay::sweep
