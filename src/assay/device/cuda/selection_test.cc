#include "assay/device/cuda/selection.h"

#include <gmock/gmock.h>

#include "assay/device/cuda/nvml.h"

namespace assay::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Gpu> kGpus = {{0, "GPU-aaaaaaaa-0000-1111-2222-333333333333", "NVIDIA H200",
                                 "0000:01:00.0", 9, 0, size_t{140} << 30},
                                {1, "GPU-aaaaaaab-0000-1111-2222-333333333333", "NVIDIA H200",
                                 "0000:02:00.0", 9, 0, size_t{140} << 30},
                                {2, "GPU-bbbbbbbb-0000-1111-2222-333333333333",
                                 "NVIDIA A100-SXM4-80GB", "0000:03:00.0", 8, 0, size_t{80} << 30}};

int chosen(std::string_view wanted) {
  const auto index = choose_device(wanted, kGpus, "");
  return index ? *index : -2;
}

std::string complaint(std::string_view wanted, std::span<const Gpu> gpus = kGpus) {
  const auto index = choose_device(wanted, gpus, "no CUDA driver");
  return index ? "" : index.error().message;
}

TEST(SelectionTest, EachWayToNameADevice) {
  EXPECT_EQ(chosen("cpu"), -1);
  EXPECT_EQ(chosen("gpu"), 0);
  EXPECT_EQ(chosen("GPU"), 0);
  EXPECT_EQ(chosen("2"), 2);
  EXPECT_EQ(chosen("GPU-aaaaaaab-0000-1111-2222-333333333333"), 1);
  EXPECT_EQ(chosen("gpu-BBBBBBBB"), 2);
  EXPECT_EQ(chosen("a100"), 2);
}

TEST(SelectionTest, WhatNamesNoneOrSeveralListsTheGpus) {
  for (const char* wanted : {"3", "-1", "h200", "GPU-aaa", "GPU-cccccccc", "B200", ""}) {
    EXPECT_EQ(chosen(wanted), -2) << wanted;
    EXPECT_THAT(complaint(wanted), HasSubstr("0: NVIDIA H200, GPU-aaaaaaaa-")) << wanted;
  }
  EXPECT_THAT(complaint("h200"), HasSubstr("names 2 GPUs"));
  EXPECT_THAT(complaint("GPU-aaa"), HasSubstr("at least 8 digits"));
}

TEST(SelectionTest, WithoutAGpuTheReasonIsSaid) {
  EXPECT_EQ(choose_device("cpu", {}, "no CUDA driver").value(), -1);
  EXPECT_THAT(complaint("gpu", {}), HasSubstr("there is no GPU: no CUDA driver"));
}

TEST(NvmlTest, ReasonsThatThrottleAreNamedAndIdlenessIsNone) {
  EXPECT_THAT(throttle_reasons(0x1 | 0x2), ::testing::IsEmpty());
  EXPECT_THAT(throttle_reasons(0x4 | 0x40), ElementsAre("power cap", "thermal, by hardware"));
}

TEST(NvmlTest, WithoutItThereIsASentence) {
  const auto nvml = Nvml::open("/nonexistent/libnvidia-ml.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace assay::cuda
