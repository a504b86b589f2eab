#pragma once

// The GPU of tests that run on the fake driver's, and in gpu_test on a real one.

#include <memory>

#include <gtest/gtest.h>

#include "assay/device/cuda/cuda_device.h"

namespace assay::testing {

// The fake one, except in gpu_test: there the first GPU, or none with the reason.
Result<std::unique_ptr<cuda::CudaDevice>> open_test_gpu();

// Whether it does what FakeControls order.
bool test_gpu_is_fake();

// A test with a GPU and a stream of it.
class FakeGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto gpu = open_test_gpu();
    if (!gpu && !test_gpu_is_fake()) GTEST_SKIP() << gpu.error().message;
    ASSERT_TRUE(gpu) << gpu.error().message;
    device_ = std::move(*gpu);
    auto stream = device_->make_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    stream_ = std::move(*stream);
  }

  std::unique_ptr<cuda::CudaDevice> device_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace assay::testing
