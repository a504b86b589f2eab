#include "assay/device/cuda/limits.h"

#include <gtest/gtest.h>

namespace assay::cuda {
namespace {

// GPUs of which a data sheet says the rate, dense, in 10^12 operations a second.
struct Sheet {
  const char* name;
  double capability, multiprocessors, clock_ghz;
  DType dtype;
  double rate;
};
constexpr Sheet kSheets[] = {
    {"V100 SXM2", 7.0, 80, 1.53, DType::f16, 125},
    {"V100 SXM2", 7.0, 80, 1.53, DType::f32, 15.7},
    {"V100 SXM2", 7.0, 80, 1.53, DType::f64, 7.8},
    {"T4", 7.5, 40, 1.59, DType::f16, 65},
    {"T4", 7.5, 40, 1.59, DType::s8, 130},
    {"A100 SXM", 8.0, 108, 1.41, DType::f64, 19.5},
    {"A100 SXM", 8.0, 108, 1.41, DType::tf32, 156},
    {"A100 SXM", 8.0, 108, 1.41, DType::bf16, 312},
    {"A100 SXM", 8.0, 108, 1.41, DType::s8, 624},
    {"RTX A6000", 8.6, 84, 1.80, DType::f16, 154.8},
    {"AGX Orin", 8.7, 16, 1.3, DType::s8, 85},
    {"L40S", 8.9, 142, 2.52, DType::f16, 362},
    {"L40S", 8.9, 142, 2.52, DType::f8_e4m3, 733},
    {"H100 SXM", 9.0, 132, 1.83, DType::f64, 67},
    {"H100 SXM", 9.0, 132, 1.83, DType::f16, 989.4},
    {"H100 SXM", 9.0, 132, 1.83, DType::f8_e5m2, 1979},
    {"B200", 10.0, 148, 1.85, DType::f64, 37},
    {"B200", 10.0, 148, 1.85, DType::bf16, 2250},
    {"B200", 10.0, 148, 1.85, DType::f8_e4m3, 4500},
    {"RTX PRO 6000 Blackwell", 12.0, 188, 2.6, DType::f16, 500},
};

TEST(CudaLimits, RatesAreThoseOfDataSheets) {
  for (const Sheet& sheet : kSheets) {
    const double clocks = sheet.multiprocessors * sheet.clock_ghz * 1e9;
    const double rate = tensor_operations(sheet.capability, sheet.dtype) * clocks;
    EXPECT_NEAR(rate / (sheet.rate * 1e12), 1, 0.09)
        << sheet.name << ", " << to_string(sheet.dtype);
    EXPECT_GE(most_tensor_operations(sheet.capability, sheet.dtype) * clocks,
              1.8 * sheet.rate * 1e12)
        << sheet.name << ", " << to_string(sheet.dtype);
  }
}

TEST(CudaLimits, WhatIsNotListedIsAsTheNearestOlderOne) {
  EXPECT_EQ(tensor_operations(12.1, DType::f16), tensor_operations(12.0, DType::f16));
  EXPECT_EQ(tensor_operations(10.3, DType::f16), tensor_operations(10.0, DType::f16));
  EXPECT_EQ(tensor_operations(6.1, DType::f16), tensor_operations(7.0, DType::f16));
  EXPECT_EQ(most_shared_bytes(8.9), 99 * 1024);
  EXPECT_EQ(most_shared_bytes(9.0), 227 * 1024);
}

TEST(CudaLimits, TheBoundIsTwiceTheStrongestSoFar) {
  EXPECT_EQ(most_tensor_operations(7.5, DType::f16), 2 * 1024);
  EXPECT_EQ(most_tensor_operations(8.6, DType::f16), 2 * 2048) << "A100 is of its kind";
  EXPECT_EQ(most_tensor_operations(9.0, DType::f16), 2 * 4096);
  EXPECT_EQ(most_tensor_operations(9.0, DType::f64), 2 * 1024) << "emulated";
  EXPECT_EQ(most_tensor_operations(9.0, DType::s8), 2 * 8192);
  EXPECT_EQ(most_tensor_operations(12.0, DType::f16), 2 * 8192) << "B200 came before it";
  EXPECT_EQ(most_tensor_operations(13.0, DType::f16), 4 * 8192) << "of which nothing is known";
  double before = 0;
  for (const double capability : {6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0}) {
    EXPECT_GE(most_tensor_operations(capability, DType::bf16), before);
    before = most_tensor_operations(capability, DType::bf16);
  }
}

}  // namespace
}  // namespace assay::cuda
