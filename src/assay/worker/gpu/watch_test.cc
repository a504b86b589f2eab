#include "assay/worker/gpu/watch.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"

namespace assay::sweep {
namespace {

constexpr const char* kUuid = "GPU-fafbfcfd-feff-0001-0203-040506070809";

std::string fake_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_nvml.so")
      .string();
}

TEST(GpuWatch, TellsClocksPowerThrottlingAndStrangers) {
  auto library = DynamicLibrary::open(fake_path(), {.deep_bind = false});
  ASSERT_TRUE(library) << library.error().message;
  void (*set)(unsigned, unsigned, unsigned long long) = nullptr;
  void (*add_process)(unsigned) = nullptr;
  ASSERT_TRUE(library->load("fake_nvml_set", set));
  ASSERT_TRUE(library->load("fake_nvml_add_process", add_process));
  const auto nvml = cuda::Nvml::open(fake_path());
  ASSERT_TRUE(nvml) << nvml.error().message;
  EXPECT_EQ((*nvml)->driver_version(), "999.1.2");

  GpuWatch watch(*nvml, kUuid, ::getpid());
  const GpuWindow calm = watch.take();
  EXPECT_GE(calm.samples, 2);
  EXPECT_EQ(calm.unwatched, "");
  ASSERT_TRUE(calm.sm_mhz);
  EXPECT_EQ(calm.sm_mhz->median, 1980);
  EXPECT_EQ(calm.watts->high, 300);
  EXPECT_EQ(calm.limit_watts, 700);
  EXPECT_GT(calm.joules, 0);
  EXPECT_FALSE(calm.celsius) << "it was not told";
  EXPECT_TRUE(calm.throttled.empty());

  // Capped, in a slower clock; this process is known, the first of all is somebody else.
  set(1200, 699'000, 0x4);
  add_process(static_cast<unsigned>(::getpid()));
  add_process(1);
  const GpuWindow busy = watch.take();
  EXPECT_EQ(busy.from, calm.until);
  EXPECT_EQ(busy.sm_mhz->low, 1200);
  EXPECT_EQ(busy.sm_mhz->high, 1980) << "as the window before ended";
  ASSERT_EQ(busy.throttled.size(), 1u);
  EXPECT_GT(busy.throttled.at("power cap"), 0);
  ASSERT_EQ(busy.strangers.size(), 1u);
  EXPECT_EQ(busy.strangers[0].pid, 1);

  GpuWatch blind(*nvml, "GPU-00000000", ::getpid());
  const GpuWindow nothing = blind.take();
  EXPECT_EQ(nothing.samples, 0);
  EXPECT_NE(nothing.unwatched, "");
}

TEST(GpuWatch, DescentIsFollowedThroughParents) {
  EXPECT_TRUE(descends_from(::getpid(), ::getpid()));
  EXPECT_TRUE(descends_from(::getpid(), ::getppid()));
  EXPECT_FALSE(descends_from(::getppid(), ::getpid()));
  EXPECT_FALSE(descends_from(1 << 30, ::getpid()));
}

}  // namespace
}  // namespace assay::sweep
