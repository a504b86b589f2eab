#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/device/cuda/limits.h"
#include "assay/op/gemm/gemm.h"
#include "estimate.h"
#include "testing/ranker_conformance.h"

namespace assay::roofline {

std::unique_ptr<Ranker> make_ranker();

namespace {

ASSAY_RANKER_CONFORMANCE(roofline, {.make = make_ranker});

double seconds(const TileDesign& tile, const gemm::Shape& shape) {
  const auto problem = gemm::problem(shape);
  EXPECT_TRUE(problem) << problem.error().message;
  const DeviceFacts facts = testing::h200();
  const Gpu gpu = gpu_of(facts);
  const auto view = gemm::view(*problem);
  EXPECT_TRUE(view);
  return estimate_seconds(tile, work_of(*view, facts.capability), gpu);
}

gemm::Shape shape(int64_t m, int64_t n, int64_t k) {
  return {.m = m, .n = n, .k = k, .dtype = DType::f16};
}

constexpr TileDesign kLarge{.tile_m = 128, .tile_n = 256, .tile_k = 64, .cluster_m = 2};
constexpr TileDesign kSmall{.tile_m = 64, .tile_n = 64, .tile_k = 64};

TEST(Roofline, NothingIsFasterThanTheDataSheet) {
  // 2 x 8192^3 operations at 4096 a clock of 132 multiprocessors.
  const double least = 2.0 * 8192 * 8192 * 8192 / (4096.0 * 132 * 1.98e9);
  EXPECT_GT(seconds(kLarge, shape(8192, 8192, 8192)), least);
  EXPECT_LT(seconds(kLarge, shape(8192, 8192, 8192)), 1.5 * least);
  // Weights of 16384 x 16384 of f16, once through memory.
  EXPECT_GT(seconds(kSmall, shape(16, 16384, 16384)), 2.0 * 16384 * 16384 / 4.8e12);
}

TEST(Roofline, LargeTilesAreForLargeProblemsAndSmallOnesForFewRows) {
  EXPECT_LT(seconds(kLarge, shape(8192, 8192, 8192)), seconds(kSmall, shape(8192, 8192, 8192)));
  EXPECT_LT(seconds(kSmall, shape(64, 4096, 4096)), seconds(kLarge, shape(64, 4096, 4096)));
}

// 132 tiles are one wave of 132 multiprocessors, 133 are two; stream-k deals the second out.
TEST(Roofline, OneTileBeyondAWaveIsATail) {
  constexpr TileDesign tile{.tile_m = 128, .tile_n = 128, .tile_k = 64};
  const double one = seconds(tile, shape(128, 132 * 128, 4096));
  const double two = seconds(tile, shape(128, 133 * 128, 4096));
  EXPECT_GT(two, 1.7 * one);
  TileDesign even = tile;
  even.stream_k = true;
  EXPECT_LT(seconds(even, shape(128, 133 * 128, 4096)), 0.8 * two);
}

// Its counters are cleared ahead of it, also where no tile is shared.
TEST(Roofline, StreamKPaysForALaunchOfItsOwn) {
  TileDesign tile{.tile_m = 128, .tile_n = 128, .tile_k = 64};
  const double plain = seconds(tile, shape(128, 132 * 128, 4096));
  tile.stream_k = true;
  EXPECT_NEAR(seconds(tile, shape(128, 132 * 128, 4096)) - plain, 2e-6, 1e-9);
}

// One block of one stage has 16 KiB under way, and 16 MiB to read: each comes after the latency of
// busy memory, twice that of idle memory.
TEST(Roofline, MemoryGivesWhatIsUnderWay) {
  TileDesign tile{.tile_m = 64, .tile_n = 64, .tile_k = 64, .stages = 1};
  const double idle = gpu_of(testing::h200()).latency_seconds;
  const double one = seconds(tile, shape(64, 64, 65536));
  EXPECT_NEAR(one, 1024 * 2 * idle, 0.05 * one);
  tile.stages = 4;
  EXPECT_LT(seconds(tile, shape(64, 64, 65536)), one / 3);
}

TEST(Roofline, FewTilesWithALongKWantItSplit) {
  TileDesign split = kSmall;
  split.split_k = 8;
  EXPECT_LT(seconds(split, shape(64, 256, 16384)), seconds(kSmall, shape(64, 256, 16384)));
  // Where there are tiles enough, parts are only more to add.
  EXPECT_GT(seconds(split, shape(4096, 4096, 512)), seconds(kSmall, shape(4096, 4096, 512)));
}

TEST(Roofline, StagesHideLatencyAndPingpongTheEpilogue) {
  TileDesign shallow = kSmall, deep = kSmall;
  shallow.stages = 2;
  deep.stages = 8;
  EXPECT_LT(seconds(deep, shape(64, 4096, 8192)), seconds(shallow, shape(64, 4096, 8192)));
  TileDesign pingpong = kLarge;
  pingpong.pingpong = true;
  EXPECT_LT(seconds(pingpong, shape(4096, 8192, 256)), seconds(kLarge, shape(4096, 8192, 256)));
}

TEST(Roofline, SumsThatFitNoRegistersAreNotScored) {
  Work work;
  work.a_bytes = 2;
  EXPECT_EQ(accumulator_registers({.tile_m = 256, .tile_n = 128}, work), 128);
  EXPECT_EQ(accumulator_registers({.tile_m = 256, .tile_n = 256}, work), 256);
  EXPECT_EQ(accumulator_registers({.tile_m = 128, .tile_n = 256, .pingpong = true}, work), 256);
  const std::vector<KernelMetadata> rows = {
      testing::gpu_row({{"tile_m", int64_t{256}}, {"tile_n", int64_t{256}}}),
      testing::gpu_row({{"tile_m", int64_t{256}}, {"tile_n", int64_t{128}}})};
  const auto problem = gemm::problem(shape(4096, 4096, 4096));
  const auto scorer = make_ranker()->open({});
  ASSERT_TRUE(problem && scorer);
  const Scores scores = (*scorer)->score(rows, *problem, testing::h200());
  EXPECT_TRUE(std::isnan(scores.costs[0]));
  EXPECT_FALSE(std::isnan(scores.costs[1]));
}

TEST(Roofline, OfOneDesignWideLoadsAndNoRoomForAnAbsentCComeFirst) {
  const auto row = [](int64_t alignment, bool reads_c) {
    ProblemRule rule;
    for (const char* role : {"a", "b"})
      rule.operands.push_back({.role = role, .dtypes = {DType::f16}, .alignment = alignment});
    if (reads_c) rule.operands.push_back({.role = "c", .dtypes = {DType::f16}});
    KernelTraits traits;
    traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
    return KernelMetadata(std::make_shared<const KernelTraits>(std::move(traits)),
                          Design({{"tile_m", int64_t{128}}, {"tile_n", int64_t{128}}}));
  };
  const std::vector<KernelMetadata> rows = {row(4, false), row(16, true), row(16, false)};
  const auto scorer = make_ranker()->open({});
  ASSERT_TRUE(scorer);
  const auto order = [&](const gemm::Shape& asked) {
    const auto problem = gemm::problem(asked);
    EXPECT_TRUE(problem);
    return order_of((*scorer)->score(rows, *problem, testing::h200()).costs);
  };
  gemm::Shape asked = shape(4096, 4096, 4096);
  EXPECT_THAT(order(asked), ::testing::ElementsAre(2, 1, 0));
  asked.beta = 1;
  EXPECT_THAT(order(asked), ::testing::ElementsAre(1, 2, 0)) << "as they are listed";
}

TEST(Roofline, AGpuOfWhichNothingIsToldIsTheUsualOneOfItsKind) {
  DeviceFacts facts;
  facts.capability = 9;
  const Gpu gpu = gpu_of(facts);
  EXPECT_EQ(gpu.multiprocessors, 132);
  EXPECT_NEAR(cuda::tensor_operations(9.0, DType::f16) * gpu.multiprocessors * gpu.clock_hz,
              989.4e12, 5e12);
  facts.capability = 8;
  const Gpu ampere = gpu_of(facts);
  EXPECT_NEAR(cuda::tensor_operations(8.0, DType::f16) * ampere.multiprocessors * ampere.clock_hz,
              312e12, 2e12);
}

// V100 and T4 have half of A100's rate, and Orin (8.7) as much shared memory as A100.
TEST(Roofline, OlderGpusAndSmallOnesAreTheirOwn) {
  DeviceFacts facts;
  facts.capability = 7.5;
  facts.multiprocessors = 40;
  facts.clock_hz = 1.59e9;
  const Gpu turing = gpu_of(facts);
  EXPECT_NEAR(cuda::tensor_operations(7.5, DType::f16) * turing.multiprocessors * turing.clock_hz,
              65e12, 1e12);
  EXPECT_EQ(turing.shared_bytes, 64 * 1024);
  facts.capability = 8.7;
  EXPECT_EQ(gpu_of(facts).shared_bytes, 163 * 1024);
  facts.capability = 8.9;
  EXPECT_EQ(gpu_of(facts).shared_bytes, 99 * 1024);
  facts.capability = 12;
  EXPECT_EQ(gpu_of(facts).shared_bytes, 99 * 1024);
}

}  // namespace
}  // namespace assay::roofline
