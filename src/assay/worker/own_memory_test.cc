#include "assay/worker/own_memory.h"

#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "assay/base/fd.h"
#include "assay/device/cpu/cpu_device.h"

namespace assay::sweep {
namespace {

constexpr size_t kHeldBytes = size_t{32} << 20;
constexpr int64_t kHeldSlack = int64_t{2} << 20;

void expect_grown(const OwnMemory& memory, size_t bytes) {
  EXPECT_NEAR(static_cast<double>(memory.grown()), static_cast<double>(bytes), kHeldSlack);
}

TEST(OwnMemory, IsCountedWhereverItIs) {
  const auto device = cpu::open({.pin = false});
  ASSERT_TRUE(device) << device.error().message;
  const OwnMemory before(**device);
  expect_grown(before, 0);
  {
    const auto touched = std::make_unique<std::vector<char>>(kHeldBytes, 'x');
    expect_grown(before, kHeldBytes);
    EXPECT_EQ(touched->back(), 'x');
  }
  expect_grown(before, 0);
  {
    const UniqueFd file(::memfd_create("kept", MFD_CLOEXEC));
    const std::vector<char> block(kHeldBytes / 32, 'x');
    for (int i = 0; i < 32; ++i)
      ASSERT_EQ(::write(file.get(), block.data(), block.size()),
                static_cast<ssize_t>(block.size()));
    const auto with_block = static_cast<double>(kHeldBytes + block.size());
    EXPECT_NEAR(static_cast<double>(before.grown()), with_block, kHeldSlack);
    void* const mapped =
        ::mmap(nullptr, kHeldBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_NEAR(static_cast<double>(before.grown()), with_block, kHeldSlack) << "counted once";
    ::munmap(mapped, kHeldBytes);
  }
  expect_grown(before, 0);
}

TEST(OwnMemory, BuffersOfTheDeviceAreNoKernels) {
  const auto device = cpu::open({.pin = false});
  ASSERT_TRUE(device) << device.error().message;
  const OwnMemory before(**device);
  auto buffer = (*device)->allocate(kHeldBytes, {});
  ASSERT_TRUE(buffer) << buffer.error().message;
  EXPECT_GE((*device)->mapped_bytes(), kHeldBytes);
  expect_grown(before, 0);
  buffer->reset();
  expect_grown(before, 0);
}

}  // namespace
}  // namespace assay::sweep
