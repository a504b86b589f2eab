// Commands on a real GPU as users give them. The GPU is the first one, or the one that
// ASSAY_DEVICE names. Without ctest, ASSAY_BINARY names the program and ASSAY_SOURCE_DIR the
// checkout; by default they are `assay` beside this test, or one folder up, and the current folder.

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "assay/device/cuda/cuda_device.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;

// Why nothing can be tested here; empty where there is a GPU.
std::string why_no_gpu() {
  const auto driver = cuda::Driver::open();
  if (!driver) return driver.error().message;
  const auto gpus = cuda::list_gpus(**driver);
  if (!gpus) return gpus.error().message;
  return gpus->empty() ? "the driver lists no GPU" : "";
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  }

  // Into a folder of the test's own, which `problem` and `record` read.
  Finished run(std::vector<std::string> words, const std::string& shape,
               const std::string& dtype = "f16") {
    folder_ = fmt::format("run{}", ++runs_);
    const char* device = std::getenv("ASSAY_DEVICE");
    words.insert(words.end(),
                 {"--device", device == nullptr ? "gpu" : device, "--shape",
                  shape + ",dtype=" + dtype, "--budget", "2s", "--output-dir", folder_});
    std::vector<std::string> wrapper;
    if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
      wrapper = {"env", fmt::format("LD_LIBRARY_PATH={}", libraries)};
    return assay_.run(std::move(words), std::move(wrapper));
  }

  RunRecord record() const {
    auto record = load_record(assay_.file(folder_ + "/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    return record ? std::move(*record) : RunRecord{};
  }
  // The only problem of the last run.
  ProblemRecord problem() const {
    const RunRecord run = record();
    EXPECT_EQ(run.problems.size(), 1u);
    return run.problems.empty() ? ProblemRecord{} : run.problems.front();
  }

  AssayProgram assay_;
  std::string folder_;
  int runs_ = 0;
};

TEST_F(GpuTest, ARaceAgainstTheStockLibraryHasAVerdictThatItsSamplesGiveAgain) {
  const Finished finished = run(
      {"race", AssayProgram::source("examples/hopper_skinny/skinny.cu"), "--against", "cublaslt",
       "--filter", "provider != 'cuda_source' or (family == 'registers' and STAGES == 2)"},
      "m=1,n=4096,k=4096");
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const RunRecord whole = record();
  EXPECT_EQ(whole.trust, TrustGrade::device_code) << whole.trust_reason;
  const ProblemRecord raced = problem();
  EXPECT_EQ(raced.condition.spacing, "chain");
  ASSERT_NE(raced.decisive(), nullptr) << raced.no_winner;
  EXPECT_EQ(raced.decisive()->processes.size(), 7u);
  const Finished again = assay_.run({"compare", "--recompute", folder_ + "/record.json"});
  EXPECT_EQ(again.code(), 0) << again.out << again.err;
}

TEST_F(GpuTest, AKernelThatLeavesOutTheWaitIsWrongInAChainAndItsTwinIsRight) {
  for (const auto& [name, right] : {std::pair{"no_wait_WAIT0", false}, {"no_wait_WAIT1", true}}) {
    const Finished finished =
        run({"run", name, "--kernels", AssayProgram::source("tests/gpu/no_wait.cu"),
             "--dependent-launch", "allowed"},
            "m=4,n=4096,k=4096");
    const ProblemRecord proven = problem();
    const KernelOutcome* kernel = testing::find_kernel(proven, name);
    ASSERT_NE(kernel, nullptr) << finished.out << finished.err;
    ASSERT_TRUE(kernel->proof) << ending_name(kernel->ending);
    EXPECT_EQ(kernel->proof->right, right) << name << ending_sentence(kernel->ending);
    EXPECT_EQ(std::holds_alternative<ending::Mismatch>(kernel->ending), !right) << name;
    EXPECT_EQ(is_timed(kernel->ending), right) << name << ending_sentence(kernel->ending);
  }
}

TEST_F(GpuTest, EpiloguesAreProvenAndTheLibraryTakesPartInEach) {
  // By the library itself, and by an element-wise kernel behind its product.
  for (const char* epilogue : {"bias+gelu_tanh", "row_scale+silu+residual", "swiglu_interleaved"}) {
    SCOPED_TRACE(epilogue);
    const std::string shape = fmt::format("m=16,n=512,k=256,epilogue={}", epilogue);
    const std::string file = fmt::format("naive{}.cu", runs_);
    const Finished made = assay_.run({"new", file, "--shape", shape + ",dtype=f16"});
    ASSERT_EQ(made.code(), 0) << made.err;
    const Finished finished =
        run({"race", file, "--provider", "cublaslt", "--filter",
             "provider != 'cublaslt' or name == 'default'", "--processes", "2"},
            shape);
    const ProblemRecord raced = problem();
    ASSERT_EQ(raced.kernels.size(), 2u) << finished.out << finished.err;
    for (const KernelOutcome& kernel : raced.kernels)
      EXPECT_TRUE(is_timed(kernel.ending)) << kernel.name << ending_sentence(kernel.ending);
  }
}

// Proofs have NaN among their inputs, whose bits differ on a GPU from those on a processor.
TEST_F(GpuTest, WhatNewWritesIsRightInEachNarrowType) {
  for (const char* shape : {"m=16,n=512,k=256", "operation=rmsnorm,m=4,n=300"}) {
    for (const char* dtype : {"bf16", "f16"}) {
      SCOPED_TRACE(fmt::format("{} {}", shape, dtype));
      const std::string file = fmt::format("naive{}.cu", runs_);
      const Finished made =
          assay_.run({"new", file, "--shape", fmt::format("{},dtype={}", shape, dtype)});
      ASSERT_EQ(made.code(), 0) << made.err;
      const Finished finished = run({"run", file}, shape, dtype);
      const ProblemRecord proven = problem();
      ASSERT_EQ(proven.kernels.size(), 1u) << finished.out << finished.err;
      const KernelOutcome& kernel = proven.kernels.front();
      ASSERT_TRUE(kernel.proof) << ending_sentence(kernel.ending);
      EXPECT_TRUE(kernel.proof->right) << ending_sentence(kernel.ending);
    }
  }
}

TEST_F(GpuTest, AKernelThatLeavesOutPartOfItsEpilogueIsWrong) {
  const std::string shape = "m=16,n=512,k=256,epilogue=bias+gelu_tanh";
  ASSERT_EQ(assay_.run({"new", "whole.cu", "--shape", shape + ",dtype=f16"}).code(), 0);
  const auto whole = read_file(assay_.file("whole.cu"));
  ASSERT_TRUE(whole);
  for (const auto& [what, instead] : {std::pair{"sum += ", "if (column % 2 == 0) sum += "},
                                      {"sum = 0.5f", "if (row > 0) sum = 0.5f"}}) {
    std::string part = *whole;
    // The last one: the first may be the product's.
    const size_t at = part.rfind(what);
    ASSERT_NE(at, std::string::npos) << part;
    part.replace(at, std::string(what).size(), instead);
    ASSERT_TRUE(write_file_atomic(assay_.file("part.cu"), part));
    const Finished finished = run({"run", "part.cu"}, shape);
    const ProblemRecord proven = problem();
    ASSERT_EQ(proven.kernels.size(), 1u) << finished.out << finished.err;
    EXPECT_TRUE(std::holds_alternative<ending::Mismatch>(proven.kernels.front().ending))
        << instead << ending_sentence(proven.kernels.front().ending);
  }
}

TEST_F(GpuTest, EveryConditionIsTimedAndNamedInTheRecord) {
  for (const auto& [asked, cache, spacing, launch] :
       {std::tuple{"cache=warm", "warm", "chain", "plain"},
        {"spacing=back_to_back", "cold_weights", "back_to_back", "plain"},
        {"spacing=isolated", "cold_weights", "isolated", "plain"},
        {"launch=graph", "cold_weights", "chain", "graph"}}) {
    const Finished finished = run(
        {"sweep", "--provider", "cublaslt", "--filter", "name == 'default'", "--condition", asked},
        "m=16,n=4096,k=4096");
    ASSERT_EQ(finished.code(), 0) << asked << finished.out << finished.err;
    const ProblemRecord timed = problem();
    EXPECT_EQ(timed.condition.cache, cache) << asked;
    EXPECT_EQ(timed.condition.spacing, spacing) << asked;
    EXPECT_EQ(timed.condition.launch, launch) << asked;
    ASSERT_NE(timed.decisive(), nullptr) << asked << timed.no_winner;
    ASSERT_FALSE(timed.decisive()->conclusion.times.empty()) << asked;
    EXPECT_GT(timed.decisive()->conclusion.times.front().median_us, 0) << asked;
  }
}

}  // namespace
}  // namespace assay
