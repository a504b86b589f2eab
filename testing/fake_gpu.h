#pragma once

// A GPU on the host: the fake driver's (testing/fake_cuda), with the fake libraries beside it
// (testing/fake_cublas). They lie beside the test that loads them.

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "assay/base/dynamic_library.h"
#include "assay/device/cuda/cuda_device.h"

namespace assay::testing {

// Of "fake_cublas": the file.
std::string fake_library(const std::string& name);

Result<std::unique_ptr<cuda::CudaDevice>> open_fake_gpu();

// The control functions of a fake library that products load, by their names.
class FakeControls {
 public:
  explicit FakeControls(const std::string& library);

  template <class Function>
  Function* find(const std::string& name) const {
    Function* function = nullptr;
    const Status found = library_.load(name, function);
    EXPECT_TRUE(found) << found.error().message;
    return function;
  }

 private:
  DynamicLibrary library_;
};

}  // namespace assay::testing
