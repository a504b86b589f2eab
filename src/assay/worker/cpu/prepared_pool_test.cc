#include "assay/worker/cpu/prepared_pool.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"

namespace assay::sweep {
namespace {

// Whoever flushes and counts that has flushed every panel, and has counted what the process took.
TEST(PreparedPoolTest, ItsMemoryIsAllThatItTook) {
  const auto device = cpu::open({.threads = 1, .pin = false});
  ASSERT_TRUE(device) << device.error().message;
  const size_t before = (*device)->mapped_bytes();
  PreparedPool pool(**device, 7, 4);
  EXPECT_TRUE(pool.memory().empty());
  for (const size_t bytes : {1'000UL, 300'000UL, 1'500'000UL, 5'000'000UL, 90'000'000UL, 64UL}) {
    const auto panel = pool.allocate(bytes);
    ASSERT_TRUE(panel) << panel.error().message;
    EXPECT_TRUE(std::ranges::any_of(pool.memory(), [&](const auto& chunk) {
      return chunk.data() <= panel->data() &&
             panel->data() + panel->size() <= chunk.data() + chunk.size();
    })) << bytes;
    size_t taken = 0;
    for (const auto& chunk : pool.memory()) taken += chunk.size();
    EXPECT_EQ(taken, (*device)->mapped_bytes() - before) << bytes;
  }
}

}  // namespace
}  // namespace assay::sweep
