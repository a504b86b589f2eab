#include "assay/compare/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/testing/sample_record.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

// One kernel of 10 us, which reads 2,121,728 bytes and does 4,194,304 operations (2,097,152 FMAs).
RunRecord record_of(double read, double flops) {
  RunRecord record = testing::make_record(
      {testing::make_problem("p", {{"mine", "skinny", KernelRole::ours, 10},
                                   {"openblas", "gemm", KernelRole::stock, 12}})});
  record.environment.ceilings = {{"read", read, "byte/s", 1, "", ""},
                                 {"flops_f64", flops / 2, "flop/s", 1, "", ""},
                                 {"flops_f32", flops, "flop/s", 1, "", ""}};
  return record;
}

Limits limits_of(const RunRecord& record) {
  return assay::limits_of(record, record.problems[0], record.problems[0].kernels[0]);
}

TEST(LimitsTest, TheTimeHasAnIntervalOverProcesses) {
  const Limits limits = limits_of(record_of(3e11, 1e12));
  EXPECT_NEAR(limits.us, 10, 0.05);
  EXPECT_LT(limits.low_us, 10.01);
  EXPECT_GT(limits.high_us, 9.99);
  EXPECT_GT(limits.low_us, 9.9);
  EXPECT_LT(limits.high_us, 10.1);
}

TEST(LimitsTest, TheNearestCeilingIsNamedWithWhatItMeans) {
  const Limits memory = limits_of(record_of(2.5e11, 4e12));
  ASSERT_EQ(memory.ceilings.size(), 2u);
  EXPECT_EQ(memory.ceilings[0].ceiling, "read");
  EXPECT_NEAR(memory.ceilings[0].share(), 2121728 / 1e-5 / 2.5e11, 0.01);
  EXPECT_EQ(memory.ceilings[1].ceiling, "flops_f32");
  EXPECT_NEAR(memory.ceilings[1].share(), 4194304 / 1e-5 / 4e12, 0.01);
  EXPECT_THAT(memory.because[0], HasSubstr("bound by memory's read bandwidth: 85 %"));
  const Limits arithmetic = limits_of(record_of(2.5e12, 5e11));
  EXPECT_THAT(arithmetic.because[0], HasSubstr("bound by the arithmetic peak (flops_f32): 84 %"));
  EXPECT_THAT(limits_of(record_of(4e11, 4e12)).because[0], HasSubstr("up to 1.9 x faster"));
  EXPECT_THAT(limits_of(record_of(4e12, 4e12)).because[0], HasSubstr("No ceiling is near"));
  EXPECT_THAT(limits_of(record_of(1e11, 4e12)).because[0], HasSubstr("faster than memory"));
}

TEST(LimitsTest, NarrowInputsHaveTheHigherOfTwoCeilings) {
  RunRecord record = record_of(3e11, 1e12);
  std::string& key = record.problems[0].key;
  key.replace(key.find("a=f32"), 5, "a=bf16");
  record.environment.ceilings.push_back({"flops_bf16", 5e11, "flop/s", 1, "", ""});
  EXPECT_EQ(limits_of(record).ceilings[1].ceiling, "flops_f32");
  record.environment.ceilings.back().value = 2e12;
  EXPECT_EQ(limits_of(record).ceilings[1].ceiling, "flops_bf16");
}

TEST(LimitsTest, WithoutCeilingsItSaysSo) {
  RunRecord record = record_of(1, 1);
  record.environment.ceilings.clear();
  EXPECT_THAT(limits_of(record).because[0], HasSubstr("No ceiling was measured"));
}

TEST(LimitsTest, CyclesAreCountedOrOfTheClock) {
  RunRecord record = record_of(3e11, 1e12);
  EventCounts counts;
  counts.launches = 100;
  counts.clock_hz = 3e9;
  counts.unavailable["cycles"] = "no PMU";
  counts.per_launch["page_faults"] = 12;
  record.problems[0].counts[testing::id_of("mine", "skinny")] = counts;
  const Limits by_clock = limits_of(record);
  EXPECT_FALSE(by_clock.cycles_counted);
  EXPECT_NEAR(by_clock.cycles_per_fma, 3e9 * 1e-5 / 2097152, 1e-4);
  EXPECT_EQ(by_clock.unavailable.at("cycles"), "no PMU");
  EXPECT_THAT(by_clock.because.back(), HasSubstr("faults 12.0 pages"));
  counts.unavailable.clear();
  counts.per_launch = {{"cycles", 20000}, {"instructions", 10000}};
  record.problems[0].counts[testing::id_of("mine", "skinny")] = counts;
  const Limits counted = limits_of(record);
  EXPECT_TRUE(counted.cycles_counted);
  EXPECT_NEAR(counted.cycles_per_fma, 20000.0 / 2097152, 1e-9);
  EXPECT_DOUBLE_EQ(counted.instructions_per_cycle, 0.5);
  EXPECT_THAT(counted.because.back(), HasSubstr("its cores mostly wait"));
}

TEST(LimitsTest, OnAGpuItsLaunchSaysWhatItLeavesUnused) {
  RunRecord record = record_of(3e11, 1e12);
  record.environment.device.kind = "gpu";
  const auto with = [&](int64_t blocks, int64_t local) {
    record.problems[0].kernels[0].launches = {{.blocks = blocks,
                                               .threads = 128,
                                               .registers = 64,
                                               .local_bytes = local,
                                               .resident_blocks = 2,
                                               .multiprocessors = 100,
                                               .most_threads = 2048}};
    return limits_of(record);
  };
  const Limits few = with(50, 0);
  EXPECT_EQ(few.threads, 0);
  EXPECT_DOUBLE_EQ(few.launches[0].waves(), 0.25);
  EXPECT_DOUBLE_EQ(few.launches[0].occupancy(), 0.125);
  EXPECT_THAT(few.because.back(), HasSubstr("50 blocks, 200 of which the GPU holds at once: 75 %"));
  EXPECT_THAT(with(250, 0).because.back(),
              HasSubstr("1.2 waves, and the last one leaves 38 % of the GPU's time unused"));
  EXPECT_THAT(with(199, 0).because, ::testing::SizeIs(1)) << "as good as full";
  EXPECT_THAT(with(400, 24).because.back(), HasSubstr("keeps 24 bytes in local memory"));
}

TEST(LimitsTest, CountersNameWhatWasBusiestAndWhatWasMovedTwice) {
  RunRecord record = record_of(3e11, 1e12);
  record.environment.device.kind = "gpu";
  const auto with = [&](double read, double memory, double tensor, double waves) {
    ProfiledKernel kernel;
    kernel.name = "gemm";
    for (const auto& [name, value] : {std::pair{metric::kRead, read},
                                      {metric::kWritten, 0.0},
                                      {metric::kMemory, memory},
                                      {metric::kTensor, tensor},
                                      {metric::kBlocks, 100.0},
                                      {metric::kWaves, waves},
                                      {metric::kLocalLoads, 7.0},
                                      {metric::kLocalStores, 0.0}})
      kernel.metrics[std::string(name)] = value;
    GpuProfile profile;
    profile.kernels = {kernel};
    record.problems[0].profiles[testing::id_of("mine", "skinny")] = profile;
    const auto because = limits_of(record).because;
    return because;
  };
  const double least = record.problems[0].bytes;
  auto because = with(least, 90, 30, 0.5);
  EXPECT_THAT(because, ::testing::Contains(HasSubstr("1.00 x the least possible.")));
  EXPECT_THAT(because.back(), HasSubstr("bound by DRAM, busy to 90 % (the tensor pipe 30 %)."));
  EXPECT_THAT(because, ::testing::Contains(HasSubstr("100 blocks, 0.50 of a wave: 50 %")));
  EXPECT_THAT(because, ::testing::Contains(HasSubstr("local memory 7 times")));
  because = with(2 * least, 30, 60, 1.25);
  EXPECT_THAT(because, ::testing::Contains(HasSubstr("2.00 x the least possible: it reads")));
  EXPECT_THAT(because, ::testing::Contains(HasSubstr("the last one leaves 38 % of the GPU's")));
  EXPECT_THAT(because.back(), HasSubstr("nearest ceiling is the tensor pipe, busy to 60 %"));
  because = with(least, 10, 20, 1);
  EXPECT_THAT(because.back(), HasSubstr("nothing is busy: the most is the tensor pipe, to 20 %"));
  // What the driver says of device code is not said twice.
  record.problems[0].kernels[0].launches = {{.blocks = 50, .threads = 128}};
  for (const std::string& sentence : with(least, 10, 20, 0.5))
    EXPECT_EQ(sentence.find("of a wave"), std::string::npos) << sentence;
}

TEST(LimitsTest, AKernelThatFellSaysHow) {
  RunRecord record = record_of(3e11, 1e12);
  record.problems[0].confirmations.clear();
  record.problems[0].kernels[0].ending = ending::Mismatch{"NaN"};
  const Limits limits = limits_of(record);
  EXPECT_THAT(limits.failure, HasSubstr("gave wrong results: NaN"));
  EXPECT_TRUE(limits.because.empty());
}

}  // namespace
}  // namespace assay
