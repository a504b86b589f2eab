#include "assay/kernel/device_code/resources.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace assay::device_code {
namespace {

// As ptxas 13.0 writes of a file with two kernels, the second of which calls a function.
constexpr std::string_view kTwoKernels =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'narrow' for 'sm_90a'\n"
    "ptxas info    : Function properties for narrow\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 8 registers, used 0 barriers, 360 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'wide' for 'sm_90a'\n"
    "ptxas info    : Function properties for called\n"
    "    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n"
    "ptxas info    : Function properties for wide\n"
    "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 4096 bytes smem, 400 bytes cmem[0]\n";

TEST(ResourcesTest, AreOfTheKernelThatIsAskedFor) {
  Json narrow, wide;
  add_resources(kTwoKernels, "narrow", narrow);
  add_resources(kTwoKernels, "wide", wide);
  EXPECT_EQ(narrow, (Json{{"registers", 8}, {"spill_store_bytes", 0}, {"spill_load_bytes", 0}}));
  EXPECT_EQ(wide, (Json{{"registers", 255},
                        {"spill_store_bytes", 12},
                        {"spill_load_bytes", 20},
                        {"static_shared_bytes", 4096}}));
  EXPECT_EQ(resources_of(kTwoKernels, "wide").stack_bytes, 16);
}

TEST(ResourcesTest, OfAKernelThatTheLogDoesNotNameAmongSeveralNothingIsKnown) {
  Json facts = Json::object();
  add_resources(kTwoKernels, "wid", facts);
  EXPECT_EQ(facts, Json::object());
}

TEST(ResourcesTest, ALogOfOneKernelIsOfThat) {
  constexpr std::string_view kUnnamed = "ptxas info : Used 90 registers, 16 bytes smem\n";
  EXPECT_EQ(resources_of(kUnnamed, "gemm").registers, 90);
  const std::string_view narrow =
      kTwoKernels.substr(0, kTwoKernels.find("ptxas info    : Comp", 60));
  EXPECT_EQ(resources_of(narrow, "_Z4gemmPf").registers, 8);
}

TEST(ResourcesTest, WithoutANameTheLargestOfEach) {
  const Resources most = resources_of(kTwoKernels, "");
  EXPECT_EQ(most.registers, 255);
  EXPECT_EQ(most.spill_load_bytes, 20);
}

TEST(ResourcesTest, WhatIsNoNumberIsNone) {
  const Resources none = resources_of("many registers, 99999999999999999999 bytes smem\n", "");
  EXPECT_FALSE(none.registers);
  EXPECT_FALSE(none.static_shared_bytes);
  EXPECT_FALSE(resources_of("", "gemm").registers);
}

}  // namespace
}  // namespace assay::device_code
