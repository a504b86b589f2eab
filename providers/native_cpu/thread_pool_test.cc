#include "thread_pool.h"

#include <array>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace assay::native_cpu {
namespace {

TEST(ThreadPool, RunsEveryPartOnceAndReturnsAfterAllOfThem) {
  ThreadPool pool;
  for (const int parts : {1, 3, 2, 5, 1, 4}) {
    std::array<std::atomic<int>, 8> runs{};
    ASSERT_TRUE(pool.run(
        parts,
        [](void* state, int part) {
          ++(*static_cast<std::array<std::atomic<int>, 8>*>(state))[static_cast<size_t>(part)];
        },
        &runs));
    for (int part = 0; part < 8; ++part)
      EXPECT_EQ(runs[static_cast<size_t>(part)], part < parts ? 1 : 0);
  }
}

TEST(ThreadPool, ServesSeveralCallers) {
  ThreadPool pool;
  std::atomic<int> runs{0};
  const auto call = [&] {
    for (int i = 0; i < 200; ++i)
      pool.run(
          3, [](void* state, int) { ++*static_cast<std::atomic<int>*>(state); }, &runs);
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(runs, 2 * 200 * 3);
}

}  // namespace
}  // namespace assay::native_cpu
