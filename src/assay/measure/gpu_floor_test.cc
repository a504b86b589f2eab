#include "assay/measure/gpu_floor.h"

#include <gtest/gtest.h>

namespace assay::measure {
namespace {

// As an H200's driver tells them.
const DeviceFacts kH200{.capability = 9.0,
                        .multiprocessors = 132,
                        .clock_hz = 1.98e9,
                        .bytes_per_second = 2 * 3.201e9 * 6144 / 8};

TEST(GpuFloor, WhatWasMeasuredLiesAboveAndWhatCannotBeLiesBelow) {
  // The fastest readings of one H200: 9.5 us for 33.5 MB of weights, 795 TFLOP/s of f16.
  EXPECT_LT(gpu_floor_seconds(2.0 * 4096 * 4096, 2.0 * 4096 * 4096, DType::f16, kH200, false),
            9.5e-6);
  EXPECT_LT(gpu_floor_seconds(795e12, 0, DType::f16, kH200, false), 1);
  // Nobody reads 235 MB in 20 us, nor does 3 PFLOP in a second, in a chain or out of it.
  const double up = 2.0 * 28672 * 4096;
  EXPECT_GT(gpu_floor_seconds(up, up, DType::f16, kH200, false), 20e-6);
  EXPECT_GT(gpu_floor_seconds(up, up, DType::f16, kH200, true), 17e-6);
  EXPECT_GT(gpu_floor_seconds(3e15, 0, DType::f16, kH200, true), 1);
  EXPECT_GT(gpu_floor_seconds(1e15, 0, DType::f64, kH200, false),
            gpu_floor_seconds(1e15, 0, DType::f16, kH200, false));
}

TEST(GpuFloor, AGpuThatTellsNothingConvictsNobody) {
  EXPECT_EQ(gpu_floor_seconds(1e15, 1e12, DType::f16, {}, false), 0);
  EXPECT_EQ(gpu_floor_seconds(1, 1, DType::f16, kH200, true), 0) << "never below nothing";
}

}  // namespace
}  // namespace assay::measure
