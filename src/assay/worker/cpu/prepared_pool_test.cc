#include "assay/worker/cpu/prepared_pool.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"

namespace assay::sweep {
namespace {

// Whoever flushes what was taken has flushed every panel, and what lies between two.
TEST(PreparedPoolTest, WhatWasTakenHoldsAllPanels) {
  const auto device = cpu::open({.threads = 1, .pin = false});
  ASSERT_TRUE(device) << device.error().message;
  PreparedPool pool(**device, 7, 4);
  EXPECT_TRUE(pool.taken().empty());
  for (const size_t bytes : {1'000UL, 300'000UL, 5'000'000UL, 90'000'000UL, 64UL}) {
    const auto panel = pool.allocate(bytes);
    ASSERT_TRUE(panel) << panel.error().message;
    EXPECT_TRUE(std::ranges::any_of(pool.taken(), [&](const auto& taken) {
      return taken.data() <= panel->data() &&
             panel->data() + panel->size() <= taken.data() + taken.size();
    })) << bytes;
  }
}

}  // namespace
}  // namespace assay::sweep
