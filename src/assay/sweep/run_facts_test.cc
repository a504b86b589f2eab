#include "assay/sweep/run_facts.h"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/json.h"
#include "assay/op/gemm/gemm.h"
#include "assay/record/bounds.h"
#include "assay/sweep/testing/fake_children.h"

namespace assay::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A request of one small problem, and what is written of it by a crew of fakes.
class AskedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.question.kind = "race";
    request_.question.suite = "small";
    request_.question.problems = {
        *gemm::problem({.m = 4, .n = 64, .k = 64, .dtype = DType::bf16, .layout = "tn"})};
    request_.pool.filter = "tile_m == 64";
    request_.pool.build = kBuildAtMost;
  }

  // Of a copy that `change` has changed.
  template <class Change>
  Json header(Change change) {
    Request request = request_;
    change(request);
    testing::FakeChildren children;
    Crew crew(request, children.starter());
    EXPECT_TRUE(crew.builder());
    return asked_for(request, crew);
  }
  Json header() {
    return header([](Request&) {});
  }
  RunOptions options(const Venue& venue, int most_processes = 0) {
    Request request = request_;
    request.venue = venue;
    request.effort.most_processes = most_processes;
    testing::FakeChildren children;
    Crew crew(request, children.starter());
    EXPECT_TRUE(crew.builder());
    return options_of(request, crew, 12);
  }

  Request request_;
};

TEST_F(AskedTest, AJournalsHeaderHasTheFieldsThatItAlwaysHad) {
  std::vector<std::string> names;
  for (const auto& [name, value] : header().items()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("class", "condition", "condition_given", "confirm", "device",
                                 "exhaustive", "filter", "kernels", "kind", "margin", "problems",
                                 "providers", "ranker", "suite", "threads"));
  EXPECT_EQ(header()["kind"], "race");
  EXPECT_EQ(header()["suite"], "small");
  EXPECT_EQ(header()["filter"], "tile_m == 64");
  EXPECT_EQ(header()["problems"].size(), 1u);
  EXPECT_EQ(header()["margin"], 0.01);
  EXPECT_EQ(header()["confirm"], true);
}

TEST_F(AskedTest, WhatDecidesAClaimIsAnotherRuns) {
  const std::vector<std::function<void(Request&)>> changes = {
      [](Request& r) { r.question.kind = "sweep"; },
      [](Request& r) { r.question.suite = "other"; },
      [](Request& r) { r.question.problems.clear(); },
      [](Request& r) { r.question.condition.values.cache = measure::Cache::warm; },
      [](Request& r) { r.question.race_class.preparation = measure::Preparation::none; },
      [](Request& r) { r.pool.filter = "true"; },
      [](Request& r) { r.pool.only.push_back({.ids = {"0123"}}); },
      [](Request& r) { r.pool.ranker = "roofline"; },
      [](Request& r) { r.pool.build = 3; },
      [](Request& r) {
        r.pool.providers = {{"toys", "", {{"space", "all"}}}};
        r.pool.recorded = {"toys.space"};
      },
      [](Request& r) { r.effort.margin = 0.02; },
      [](Request& r) { r.effort.exhaustive = true; },
      [](Request& r) { r.effort.confirm = false; },
  };
  const Json before = header();
  for (size_t i = 0; i < changes.size(); ++i) EXPECT_NE(header(changes[i]), before) << i;
}

TEST_F(AskedTest, WhereThingsLieAndHowLongTheyMayTakeIsNot) {
  EXPECT_EQ(header([](Request& r) {
              r.pool.providers = {{"toys", "", {{"library", "/opt/toys.so"}}}};
              r.pool.recorded = {"toys.space"};
              r.effort.budget_seconds = 1;
              r.limits.trial_seconds = 1;
              r.keep.cache = "/tmp/elsewhere";
              r.caller.command_line = {"assay"};
            }),
            header());
}

TEST_F(AskedTest, AVenueDecidesHowManyProcessesConfirmAndWhatTheyShare) {
  const RunOptions cpu = options({});
  EXPECT_EQ(cpu.most_processes, 30);
  EXPECT_EQ(cpu.systematic_error, kCpuSystematicError);
  EXPECT_EQ(cpu.systematic_error_apart, kCpuSystematicErrorApart);
  const RunOptions gpu = options({.gpu = "GPU-fake"});
  EXPECT_EQ(gpu.most_processes, 7);
  EXPECT_EQ(gpu.systematic_error, 0);
  EXPECT_EQ(gpu.systematic_error_apart, 0);
  EXPECT_EQ(options({}, 9).most_processes, 18);
  EXPECT_EQ(cpu.budget_seconds, 12);
  EXPECT_EQ(cpu.rules, kRulesOfWinners);
}

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
