#include "assay/worker/gpu/ceilings.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"
#include "assay/base/file.h"

namespace assay::sweep {
namespace {

std::string fake_path() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libfake_cuda.so")
      .string();
}

double value_of(const std::vector<Ceiling>& ceilings, std::string_view name) {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.name == name) return ceiling.value;
  return 0;
}

TEST(GpuCeilings, AreMeasuredOnceForAGpuAndADriver) {
  const auto driver = cuda::Driver::open(fake_path());
  ASSERT_TRUE(driver) << driver.error().message;
  auto library = DynamicLibrary::open(fake_path(), {.deep_bind = false});
  uint64_t (*calls)(const char*) = nullptr;
  uint64_t (*allocated)() = nullptr;
  ASSERT_TRUE(library && library->load("fake_cuda_calls", calls) &&
              library->load("fake_cuda_allocated", allocated));
  const auto gpus = cuda::list_gpus(**driver);
  ASSERT_TRUE(gpus);
  const auto device = cuda::open(*driver, gpus->front());
  ASSERT_TRUE(device);
  const auto made = TemporaryDirectory::create();
  ASSERT_TRUE(made);
  const std::string folder = made->path();
  const uint64_t before = allocated();

  const auto first = gpu_ceilings(**device, folder);
  ASSERT_TRUE(first) << first.error().message;
  // The fake moves two bytes a nanosecond, and a step takes 100 ns.
  EXPECT_NEAR(value_of(*first, "read") / 2e9, 1, 0.01);
  EXPECT_NEAR(value_of(*first, "copy") / 4e9, 1, 0.01);
  const double step = 16 * 2.0 * 64 * 256 * 16 * 3 * 132;
  EXPECT_NEAR(value_of(*first, "flops_f16") / (step / 100e-9), 1, 0.01);
  EXPECT_GT(value_of(*first, "flops_bf16"), 0);
  EXPECT_GT(value_of(*first, "flops_f32"), 0);
  EXPECT_GT(value_of(*first, "flops_f64"), 0);
  EXPECT_EQ(allocated(), before);

  const uint64_t launches = calls("cuLaunchKernelEx");
  const auto kept = gpu_ceilings(**device, folder);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, *first);
  EXPECT_EQ(calls("cuLaunchKernelEx"), launches);
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
    if (file.is_regular_file()) {
      ASSERT_TRUE(write_file_atomic(file.path().string(), "{torn"));
    }
  ASSERT_TRUE(gpu_ceilings(**device, folder));
  EXPECT_GT(calls("cuLaunchKernelEx"), launches) << "what cannot be read is measured again";
}

}  // namespace
}  // namespace assay::sweep
