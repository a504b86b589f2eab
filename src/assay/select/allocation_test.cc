// What choosing and launching promise: no allocation. Every `new` of this program is counted.

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "assay/device/cpu/cpu_device.h"
#include "assay/select/testing/sample_table.h"

namespace {
std::atomic<int> counted{0};
}  // namespace

// All forms, since each block is given back to the twin of what made it.
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++counted;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(size_t bytes) {
  if (void* block = operator new(bytes, std::nothrow)) return block;
  throw std::bad_alloc();
}
void* operator new[](size_t bytes, const std::nothrow_t& no) noexcept {
  return operator new(bytes, no);
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }

namespace assay {
namespace {

using testing::shape;
using testing::Toys;

TEST(AllocationTest, ChoosingLaunchingAndRebindingAllocateNothing) {
  Toys toys;
  TableContents contents = toys.table();
  for (int64_t m = 1; m <= 40; ++m)
    contents.add(shape(m, 64, 32), {{static_cast<uint32_t>(m % 3), 1}, {0, 1.1}, {1, 1.2}});
  const auto device = std::move(*cpu::open({.threads = 1}));
  const auto stream = std::move(*device->make_stream());
  const auto table =
      TunedTable::create(std::move(contents), toys.catalog, {.device = device.get()});
  ASSERT_TRUE(table) << table.error().message;
  const Problem tuned = shape(7, 64, 32), other = shape(70, 64, 32);
  alignas(64) static std::array<float, 4096> memory{};
  const Arguments arguments{tuned, {memory.data(), memory.data(), memory.data()}};
  auto plan = table->plan(arguments, *device);
  ASSERT_TRUE(plan) << plan.error().message;
  const int before = counted;
  bool done = true;
  for (int i = 0; i < 3; ++i) {
    done &= table->choose(tuned, device->target()).has_value();
    done &= table->choose(other, device->target()).has_value();
    done &= plan->launch(*stream).has_value();
    done &= plan->rebind(arguments.data).has_value();
  }
  EXPECT_EQ(counted, before);
  EXPECT_TRUE(done);
  // And it is counted at all.
  EXPECT_FALSE(table->choose(shape(7, 64, 32, {"b"}), device->target()));
  EXPECT_GT(counted, before);
}

}  // namespace
}  // namespace assay
