#include "assay/sweep/run_facts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::sweep {
namespace {

using ::testing::HasSubstr;

TEST(RunFacts, OfACalmGpuNothingHasToBeKnown) {
  EXPECT_TRUE(findings_of(GpuWindow{.samples = 2}).empty());
}

TEST(RunFacts, AThrottledAndSharedGpuIsSaid) {
  GpuWindow busy{.samples = 4};
  busy.throttled["power cap"] = 0.25;
  busy.strangers.push_back({.pid = 1});
  const auto findings = findings_of(busy);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].code, "throttled");
  EXPECT_THAT(findings[0].sentence, HasSubstr("25 % of the samples: power cap"));
  busy.throttled["power cap"] = 0.004;
  EXPECT_THAT(findings_of(busy)[0].sentence, HasSubstr("in under 1 % of the samples"));
  EXPECT_EQ(findings[1].code, "gpu_shared");
  EXPECT_THAT(findings[1].sentence, HasSubstr("process 1"));
}

TEST(RunFacts, WhatNobodyWatchedIsSaid) {
  const auto findings = findings_of(GpuWindow{.unwatched = "no such GPU"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "gpu_unwatched");
  EXPECT_THAT(findings[0].sentence, HasSubstr("no such GPU"));
}

TEST(RunFacts, StockKernelsThatFoundNoMemoryMayBeTheBest) {
  ProblemRecord record;
  const auto add = [&](KernelRole role, bool proven, Ending ending) {
    KernelOutcome& kernel = record.kernels.emplace_back();
    kernel.provider = "cublaslt";
    kernel.name = fmt::format("k{}", record.kernels.size());
    kernel.role = role;
    kernel.ending = std::move(ending);
    if (proven) kernel.proof.emplace().right = true;
  };
  const ending::OutOfMemory full{.stage = "bind"};
  add(KernelRole::stock, true, ending::Timed{});
  add(KernelRole::user, true, full);
  add(KernelRole::stock, false, full);
  add(KernelRole::stock, true, ending::OutOfMemory{.stage = "verify"});
  EXPECT_FALSE(crowded_out(record));
  add(KernelRole::stock, true, full);
  EXPECT_THAT(crowded_out(record)->sentence, HasSubstr("cublaslt/k5 that was proven right"));
  add(KernelRole::stock, true, full);
  const auto finding = crowded_out(record);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, "stock_crowded_out");
  EXPECT_THAT(finding->sentence, HasSubstr("2 stock kernels"));
  EXPECT_THAT(finding->sentence, HasSubstr("cublaslt/k5 among them"));
}

}  // namespace
}  // namespace assay::sweep
