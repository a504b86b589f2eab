#pragma once

// The card of tests that run on the fake driver's, and in gpu_test on a real one.

#include <memory>

#include <gtest/gtest.h>

#include "assay/device/cuda/cuda_device.h"

namespace assay::testing {

// The fake one, except in gpu_test: there the first card, or none with the reason.
Result<std::unique_ptr<cuda::CudaDevice>> open_test_card();

// Whether it does what FakeControls order.
bool test_card_is_fake();

// A test with a card and a stream of it.
class CardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto card = open_test_card();
    if (!card && !test_card_is_fake()) GTEST_SKIP() << card.error().message;
    ASSERT_TRUE(card) << card.error().message;
    device_ = std::move(*card);
    auto stream = device_->make_stream();
    ASSERT_TRUE(stream) << stream.error().message;
    stream_ = std::move(*stream);
  }

  std::unique_ptr<cuda::CudaDevice> device_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace assay::testing
