#include "assay/base/parallel.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ForEachParallel, UsesEachIndexOnceAndReturnsWhenAllAreDone) {
  for (const size_t count : {0u, 1u, 2u, 1000u}) {
    std::vector<std::atomic<int>> used(count);
    for_each_parallel(count, [&](size_t i) { ++used[i]; });
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(used[i], 1) << i << " of " << count;
  }
}

}  // namespace
}  // namespace assay
