#include <gtest/gtest.h>

#include "assay/lab/evaluate/profile_stage.h"

namespace assay::lab {
namespace {

TEST(ProfileReportsTest, PerfsLinesByShare) {
  const auto buckets = read_perf_report(
      "# Samples: 2K of event 'cpu-clock'\n#\n    12.30%  [k] clear_page\n"
      "    80.50%  [.] gemm(float const*, int)\n\n     7.20%  [.] main\n");
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].name, "gemm(float const*, int)");
  EXPECT_NEAR(buckets[0].share, 0.805, 1e-9);
  EXPECT_EQ(buckets[1].name, "clear_page");
}

TEST(ProfileReportsTest, CallgrindsFunctions) {
  const auto buckets = read_callgrind_report(
      "10,000 (100.0%)  PROGRAM TOTALS\n\nIr                      file:function\n"
      " 7,000 (70.00%)  work.c:work [/tmp/a b/work]\n 3,000 (30.00%)  ???:0x0000 [/lib/ld.so]\n");
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].name, "work");
  EXPECT_NEAR(buckets[0].share, 0.7, 1e-9);
}

TEST(ProfileReportsTest, NsysKernelsWithCommasInTheirNames) {
  const auto buckets = read_nsys_kernels(
      "Processing [x] with [y]...\n\nTime (%),Total Time (ns),Instances,Avg (ns),Name\n"
      "90.5,1000,10,100.0,\"void gemm<float, 128>(float*, int)\"\n9.5,100,1,100.0,copy\n");
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].name, "void gemm<float, 128>(float*, int)");
  EXPECT_NEAR(buckets[1].share, 0.095, 1e-9);
}

TEST(ProfileReportsTest, NcusLaunchesAreAddedByKernel) {
  const auto buckets = read_ncu_kernels(
      "==PROF== Connected to process 1 (/bin/x)\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\","
      "\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"ns\"\n"
      "\"0\",\"1\",\"gemm\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"400\"\n"
      "\"1\",\"1\",\"copy\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"200\"\n"
      "\"2\",\"1\",\"gemm\",\"(1, 1, 1)\",\"(1, 1, 1)\",\"400\"\n");
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].name, "gemm");
  EXPECT_NEAR(buckets[0].share, 0.8, 1e-9);
}

TEST(ProfileReportsTest, WhatWhySaysOfItsKernel) {
  const Explained explained = read_why(
      R"({"problems":[{"kernels":[{"because":["Memory.","Latency."],"profile":{"tool":"ncu 2025.3"}}]}]})");
  EXPECT_EQ(explained.because, "Memory. Latency.");
  EXPECT_EQ(explained.tool, "ncu 2025.3");
  for (const char* text : {"", "[]", "{}", R"({"problems":[]})", R"({"problems":[1]})",
                           R"({"problems":[{"kernels":[{"because":1,"profile":[]}]}]})",
                           R"({"problems":[{"kernels":[{"because":[1],"profile":[]}]}]})"})
    EXPECT_EQ(read_why(text).because, "") << text;
}

// What programs print is hostile until parsed.
TEST(ProfileReportsTest, NonsenseHasNoBuckets) {
  for (const char* text : {"", "%", "nan%  [.] x", "-5%  [.] x", "1e9%  [.] x", "(%)", "(5%",
                           "Time (%),Name\n\"", "Time (%),Name\n,"}) {
    EXPECT_TRUE(read_perf_report(text).empty()) << text;
    EXPECT_TRUE(read_callgrind_report(text).empty()) << text;
    EXPECT_TRUE(read_nsys_kernels(text).empty()) << text;
    EXPECT_TRUE(read_ncu_kernels(text).empty()) << text;
  }
}

}  // namespace
}  // namespace assay::lab
