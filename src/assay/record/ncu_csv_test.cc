#include "assay/record/ncu_csv.h"

#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::string_view, 4> kMetrics = {metric::kNanoseconds, metric::kRead,
                                                      metric::kTensor, metric::kWaves};

// As version 2025 writes it: messages of its own around the table.
const std::string kHead =
    "==PROF== Connected to process 4711 (/usr/bin/assay)\n"
    "==PROF== Profiling \"gemm\": 0%....50%....100% - 3 passes\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"dram__bytes_read.sum\","
    "\"gpu__time_duration.sum\",\"launch__waves_per_multiprocessor\","
    "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"\",\"%\"\n";
const std::string kTail = "==PROF== Disconnected from process 4711\n";

std::string row(int id, const std::string& name, const std::string& numbers) {
  return "\"" + std::to_string(id) + "\",\"4711\",\"" + name +
         "\",\"(128, 1, 1)\",\"(64, 1, 1)\"," + numbers + "\n";
}

TEST(NcuCsvTest, NumbersHaveTheirCommasAndUnitsAndNamesTheirs) {
  const auto read = read_ncu_csv(
      kHead + row(0, "void gemm<(int)2, float>(float *)", R"("1,234,567","1.5","0.48","12.25")") +
          row(1, "reduce\x1b[31m", R"("3","2","n/a","-1")") + kTail,
      "ncu.csv", kMetrics);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ(read->front().name, "void gemm<(int)2, float>(float *)");
  EXPECT_EQ(read->front().at(metric::kRead), 1234567);
  EXPECT_EQ(read->front().at(metric::kNanoseconds), 1.5);
  EXPECT_EQ(read->front().at(metric::kTensor), 12.25);
  EXPECT_EQ((*read)[1].name, "reduce\\x1b[31m");
  EXPECT_EQ((*read)[1].at(metric::kWaves), std::nullopt);
  EXPECT_EQ((*read)[1].at(metric::kTensor), std::nullopt) << "no share is below nothing";
}

TEST(NcuCsvTest, ScaledUnitsAreBaseOnesAgain) {
  std::string head = kHead;
  head.replace(head.find("\"byte\",\"ns\""), 11, "\"Mbyte\",\"usecond\"");
  const auto read = read_ncu_csv(head + row(0, "k", R"("2.5","3","1","1")"), "ncu.csv", kMetrics);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->front().at(metric::kRead), 2.5e6);
  EXPECT_EQ(read->front().at(metric::kNanoseconds), 3000);
  head.replace(head.find("Mbyte"), 5, "furlo");
  EXPECT_EQ(read_ncu_csv(head + row(0, "k", R"("2.5","3","1","1")"), "ncu.csv", kMetrics)
                ->front()
                .at(metric::kRead),
            std::nullopt);
}

TEST(NcuCsvTest, WhatIsNoTableIsSaidToBeNone) {
  const auto none = read_ncu_csv("==ERROR== no\n" + kTail, "ncu.csv", kMetrics);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  for (const std::string& bad :
       {kHead + "\"0\",\"4711\"\n", kHead + "\"0\",\"47\n", std::string("\"ID\",\"x\"\n"),
        kHead + row(0, "k", std::string("\"1\0\",\"2\",\"3\",\"4\"", 17))}) {
    const auto read = read_ncu_csv(bad, "ncu.csv", kMetrics);
    ASSERT_FALSE(read) << bad;
    EXPECT_THAT(read.error().message, HasSubstr("ncu.csv:"));
  }
  EXPECT_TRUE(read_ncu_csv(kHead, "ncu.csv", kMetrics)->empty());
  EXPECT_TRUE(read_ncu_csv("\"ID\",\"Kernel Name\"", "ncu.csv", kMetrics)->empty());
}

TEST(NcuCsvTest, ALaunchIsItsKernelsWithMediansOverTheLaunches) {
  std::vector<ProfiledKernel> all;
  for (const double bytes : {10.0, 30.0, 20.0}) {
    all.push_back({"gemm", {{std::string(metric::kRead), bytes}}});
    all.push_back({"reduce", {{std::string(metric::kRead), 2 * bytes}}});
  }
  all[1].metrics[std::string(metric::kWaves)] = 1;  // Of one launch of three.
  const auto one = one_launch(all, 3);
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_EQ(one->size(), 2u);
  EXPECT_EQ(one->front().at(metric::kRead), 20);
  EXPECT_EQ(one->back().at(metric::kRead), 40);
  EXPECT_EQ(one->back().at(metric::kWaves), std::nullopt);
  EXPECT_THAT(one_launch(std::span(all).first(5), 3).error().message, HasSubstr("not the same"));
  std::swap(all[2].name, all[3].name);
  EXPECT_THAT(one_launch(all, 3).error().message, HasSubstr("reduce where gemm was"));
  EXPECT_THAT(one_launch({}, 3).error().message, HasSubstr("saw no kernel"));
}

TEST(GpuProfileTest, SharesOfSeveralKernelsAreWeighedByTheirTimes) {
  GpuProfile profile;
  EXPECT_EQ(profile.sum(metric::kRead), std::nullopt);
  const auto kernel = [](double ns, double share) {
    return ProfiledKernel{
        "k", {{std::string(metric::kNanoseconds), ns}, {std::string(metric::kMemory), share}}};
  };
  profile.kernels = {kernel(3000, 80), kernel(1000, 20)};
  EXPECT_EQ(profile.sum(metric::kNanoseconds), 4000);
  EXPECT_EQ(profile.mean(metric::kMemory), 65);
  profile.kernels[1].metrics.erase(std::string(metric::kMemory));
  EXPECT_EQ(profile.mean(metric::kMemory), std::nullopt);
}

}  // namespace
}  // namespace assay
