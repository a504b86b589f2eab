#include "testing/ranker_conformance.h"

#include <algorithm>
#include <cmath>

#include "assay/base/text.h"
#include "assay/kernel/design_space.h"
#include "assay/op/gemm/gemm.h"

namespace assay::testing {
namespace {

std::shared_ptr<const KernelTraits> traits() {
  static const auto made = [] {
    ProblemRule rule;
    for (const char* role : {"a", "b", "out"})
      rule.operands.push_back({.role = role, .dtypes = {DType::f16}});
    KernelTraits traits;
    traits.provider = "gpus";
    traits.family = "gemm";
    traits.name = "gpu_{tile_m}x{tile_n}";
    traits.rule = std::make_shared<const ProblemRule>(std::move(rule));
    return std::make_shared<const KernelTraits>(std::move(traits));
  }();
  return made;
}

DesignAxis integers(const std::string& name, std::initializer_list<int64_t> values) {
  DesignAxis axis{{name}, {}};
  for (const int64_t value : values) axis.choices.push_back({value});
  return axis;
}

}  // namespace

DeviceFacts h200() {
  DeviceFacts facts;
  facts.target = *Target::parse("sm_90a");
  facts.name = "NVIDIA H200";
  facts.capability = 9.0;
  facts.multiprocessors = 132;
  facts.clock_hz = 1.98e9;
  facts.bytes_per_second = 4.8e12;
  facts.l2_bytes = 50.0 * 1024 * 1024;
  return facts;
}

std::vector<KernelMetadata> gpu_rows(size_t wanted) {
  DesignAxis schedule{{"schedule"}, {}};
  for (const char* name : {"pingpong", "cooperative", "stream_k"})
    schedule.choices.push_back({std::string(name)});
  std::vector<DesignAxis> axes = {
      integers("tile_m", {64, 128, 256}), integers("tile_n", {16, 32, 64, 96, 128, 160, 192, 256}),
      integers("tile_k", {32, 64, 128}),  integers("cluster_m", {1, 2, 4}),
      integers("cluster_n", {1, 2, 4}),   integers("stages", {0, 2, 3, 4, 5, 6, 7, 8}),
      integers("split_k", {1, 2, 4, 8}),  std::move(schedule)};
  const auto shared = std::make_shared<const DesignAxes>(std::move(axes));
  std::vector<KernelMetadata> rows;
  const uint64_t step = std::max<uint64_t>(1, shared->rows() / std::max<size_t>(wanted, 1));
  for (uint64_t row = 0; row < shared->rows() && rows.size() < wanted; row += step)
    rows.emplace_back(traits(), Design(shared, row));
  return rows;
}

KernelMetadata gpu_row(Design design) { return {traits(), std::move(design)}; }

std::vector<RankerSubject> ranker_subject(RankerSubject subject, std::string name) {
  subject.name = std::move(name);
  return {std::move(subject)};
}

void RankerConformance::SetUp() {
  ranker_ = GetParam().make();
  ASSERT_NE(ranker_, nullptr);
  auto opened = ranker_->open(GetParam().settings ? GetParam().settings() : ProviderSettings{});
  if (!opened) GTEST_SKIP() << opened.error().message;
  scorer_ = std::move(*opened);
}

}  // namespace assay::testing

namespace {

using namespace assay;           // NOLINT: the body of a test.
using namespace assay::testing;  // NOLINT

Problem problem(gemm::Shape shape) {
  const auto made = gemm::problem(shape);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

int64_t explained(const Scores& scores) {
  int64_t rows = 0;
  for (const auto& [sentence, count] : scores.unscored) rows += count;
  return rows;
}

int64_t without_cost(const Scores& scores) {
  return std::ranges::count_if(scores.costs, [](double cost) { return std::isnan(cost); });
}

TEST_P(AssayRankerConformance, SaysWhoItIs) {
  const RankerInfo& info = ranker_->info();
  EXPECT_TRUE(matches_name_rule(info.name)) << info.name;
  EXPECT_FALSE(info.summary.empty());
  EXPECT_FALSE(info.licence.empty());
  // What is loaded can be missing: then somebody has to know what to install.
  EXPECT_EQ(info.library.empty(), info.packages.empty());
}

TEST_P(AssayRankerConformance, GivesOneTotalOrderHoweverOftenAndInWhateverOrderItIsAsked) {
  const auto rows = gpu_rows(600);
  const Problem asked = problem({.m = 512, .n = 1024, .k = 768, .dtype = DType::f16});
  const Scores first = scorer_->score(rows, asked, h200());
  ASSERT_EQ(first.costs.size(), rows.size());
  const std::vector<size_t> places = order_of(first.costs);
  EXPECT_EQ(order_of(scorer_->score(rows, asked, h200()).costs), places);
  // Backwards: the same kernels at the same costs.
  const std::vector<KernelMetadata> turned(rows.rbegin(), rows.rend());
  const Scores again = scorer_->score(turned, asked, h200());
  for (size_t i = 0; i < rows.size(); ++i) {
    const double cost = again.costs[rows.size() - 1 - i];
    ASSERT_TRUE(first.costs[i] == cost || (std::isnan(first.costs[i]) && std::isnan(cost))) << i;
  }
}

TEST_P(AssayRankerConformance, CostsAreFiniteOrMissingWithAReasonOnEveryShape) {
  const auto rows = gpu_rows(200);
  size_t scored = 0;
  for (const int64_t m : {1, 7, 16, 333, 4096})
    for (const int64_t n : {1, 24, 1000, 8192})
      for (const int64_t k : {1, 100, 4096})
        for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8})
          for (const int64_t batch : {1, 5}) {
            const Scores scores = scorer_->score(
                rows, problem({.m = m, .n = n, .k = k, .batch = batch, .dtype = dtype}), h200());
            ASSERT_EQ(scores.costs.size(), rows.size());
            for (const double cost : scores.costs)
              ASSERT_TRUE(std::isnan(cost) || (std::isfinite(cost) && cost >= 0)) << cost;
            ASSERT_EQ(explained(scores), without_cost(scores));
            scored += rows.size() - static_cast<size_t>(without_cost(scores));
          }
  EXPECT_GT(scored, 0u) << "nothing at all is scored";
}

TEST_P(AssayRankerConformance, WhatItKnowsNothingOfStandsBehindAsItStood) {
  std::vector<KernelMetadata> rows = {
      gpu_row({}),
      gpu_row({{"threads", int64_t{4}}}),
      gpu_row({{"tile_m", int64_t{128}}, {"tile_n", int64_t{128}}}),
      gpu_row({{"tile_m", int64_t{-1}}, {"tile_n", int64_t{128}}}),
      gpu_row({{"tile_m", int64_t{1} << 60}, {"tile_n", int64_t{1} << 60}}),
      gpu_row({{"tile_m", std::string("wide")}, {"tile_n", int64_t{128}}}),
      gpu_row({{"tile_m", int64_t{64}}, {"tile_n", int64_t{64}}, {"stages", int64_t{-3}}})};
  const Scores scores =
      scorer_->score(rows, problem({.m = 256, .n = 256, .k = 256, .dtype = DType::f16}), h200());
  for (const size_t unknown : {0, 1, 3, 4, 5, 6})
    EXPECT_TRUE(std::isnan(scores.costs[unknown])) << unknown;
  EXPECT_FALSE(std::isnan(scores.costs[2]));
  EXPECT_EQ(order_of(scores.costs), (std::vector<size_t>{2, 0, 1, 3, 4, 5, 6}));
  EXPECT_EQ(explained(scores), 6);
}

TEST_P(AssayRankerConformance, NeedsAGpusFactsAndNoGpu) {
  const auto rows = gpu_rows(20);
  const Problem asked = problem({.m = 64, .n = 64, .k = 64, .dtype = DType::f16});
  DeviceFacts processor;
  processor.target = *Target::parse("x86_64");
  const Scores none = scorer_->score(rows, asked, processor);
  EXPECT_EQ(without_cost(none), static_cast<int64_t>(rows.size()));
  EXPECT_FALSE(none.unscored.empty());
  EXPECT_TRUE(scorer_->score({}, asked, h200()).costs.empty());
}

}  // namespace
