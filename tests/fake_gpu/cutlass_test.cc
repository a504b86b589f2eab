// CUTLASS's kernels in whole commands, where nvcc is a script (testing/fake_nvcc.h) and the GPU
// testing/fake_cuda.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"
#include "testing/fake_gpu.h"
#include "testing/fake_nvcc.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::fake_library;
using testing::FakeNvcc;
using testing::Finished;
using ::testing::HasSubstr;

class CutlassCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = assay_.file("driver");
    std::filesystem::create_directory(folder);
    std::filesystem::create_symlink(fake_library("fake_cuda"), folder / "libcuda.so.1");
    ASSERT_TRUE(write_file_atomic(assay_.file("driver/fake_cuda.txt"),
                                  "ns=assay_produce:20 ns=assay_consume:20 ns=cutlass:300"));
  }

  // Like a user's, where the environment says where nvcc and CUTLASS are.
  Finished run(std::vector<std::string> words, bool compiler = true) const {
    std::vector<std::string> before = {"env", "LD_LIBRARY_PATH=" + assay_.file("driver"),
                                       "CUDACXX=" + (compiler ? nvcc_.nvcc() : "/no/such/nvcc"),
                                       "CUTLASS_DIR=" + nvcc_.directory()};
    return assay_.run(std::move(words), before);
  }
  Finished sweep(std::vector<std::string> more, bool compiler = true) const {
    std::vector<std::string> words = {
        "sweep", "--provider",  "cutlass", "--device",  "gpu", "--shape",      kShape, "--budget",
        "1s",    "--processes", "3",       "--timeout", "5s",  "--output-dir", "run"};
    words.insert(words.end(), more.begin(), more.end());
    return run(std::move(words), compiler);
  }

  ProblemRecord problem() const {
    auto record = load_record(assay_.file("run/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    if (!record || record->problems.size() != 1) return {};
    return std::move(record->problems.front());
  }

  static constexpr const char* kShape = "m=16,n=24,k=32,dtype=f16";
  AssayProgram assay_;
  FakeNvcc nvcc_{assay_.file("toolchain")};
};

TEST_F(CutlassCommandTest, KernelsAreCompiledProvenAndTimedAndWhatSpillsIsRefused) {
  const Finished finished =
      sweep({"--build", "all", "--filter",
             "tile_n == 256 and cluster_m == 2 and schedule == 'cooperative' and epilogue == "
             "'direct' and scheduler == 'persistent'"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const ProblemRecord raced = problem();
  const auto ending = [&](const char* name) -> std::pair<std::string, std::string> {
    const KernelOutcome* kernel = testing::find_kernel(raced, name);
    if (kernel == nullptr) return {"not listed", ""};
    return {std::string(ending_name(kernel->ending)), ending_sentence(kernel->ending)};
  };
  EXPECT_EQ(ending("128x256x64_2x1_cooperative_direct_persistent").first, "timed")
      << ending("128x256x64_2x1_cooperative_direct_persistent").second;
  EXPECT_EQ(ending("256x256x64_2x1_cooperative_direct_persistent").first, "refusal");
  EXPECT_THAT(ending("256x256x64_2x1_cooperative_direct_persistent").second,
              HasSubstr("it spills"));
  const KernelOutcome* kernel =
      testing::find_kernel(raced, "128x256x64_2x1_cooperative_direct_persistent");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->artifact_facts.json()["registers"], 168);
  ASSERT_TRUE(kernel->proof);
  EXPECT_TRUE(kernel->proof->right);
  const int compiled = nvcc_.compiled();
  EXPECT_GE(compiled, 2);
  // Another run finds them, wherever a ranker puts them, and builds its first besides.
  std::filesystem::remove_all(assay_.file("run"));
  ASSERT_EQ(sweep({"--build", "1", "--fresh"}).code(), 0);
  EXPECT_LE(nvcc_.compiled(), compiled + 1);
  const ProblemRecord again = problem();
  ASSERT_TRUE(again.ranking);
  EXPECT_EQ(again.ranking->ranker, "roofline");
  EXPECT_EQ(again.ranking->costly, 130);
  const KernelOutcome* const kept =
      testing::find_kernel(again, "128x256x64_2x1_cooperative_direct_persistent");
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(ending_name(kept->ending), "timed");
}

// Rows of one object count once where they are chosen, and it is compiled once.
TEST_F(CutlassCommandTest, RuntimeParametersOfOneObjectAreBuiltTogether) {
  const Finished finished =
      sweep({"--build", "2", "--setting", "cutlass.runtime=search", "--filter",
             "schedule == 'pingpong' and epilogue == 'tma' and cluster_m == 2"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_EQ(nvcc_.compiled(), 2);
  const ProblemRecord raced = problem();
  EXPECT_EQ(raced.kernels.size(), 14u) << "two objects, with seven orders and swizzles each";
  EXPECT_GT(raced.ranking->not_built, 0);
}

// A pool that was brought takes part wherever a ranker puts it, and nothing else without a
// compiler.
TEST_F(CutlassCommandTest, APoolTakesPartWhateverTheRankerSays) {
  const Finished compiled =
      run({"kernels", "--compile", "--provider", "cutlass", "--target", "sm_90a", "--shape", kShape,
           "--filter", "tile_n == 128 and cluster_m == 2 and epilogue == 'tma'", "--build", "4",
           "--ranker", "none", "--cache-dir", assay_.file("pool")});
  ASSERT_EQ(compiled.code(), 0) << compiled.out << compiled.err;
  ASSERT_EQ(nvcc_.compiled(), 4);
  const std::string pool = "cutlass.pool=" + assay_.file("pool");
  const Finished brought = sweep({"--build", "1", "--setting", pool}, false);
  ASSERT_EQ(brought.code(), 0) << brought.out << brought.err;
  EXPECT_EQ(problem().kernels.size(), 4u);
  EXPECT_EQ(problem().refusals.at("compiler_missing").count, 126);
  std::filesystem::remove_all(assay_.file("run"));
  ASSERT_EQ(sweep({"--build", "1", "--setting", pool, "--fresh"}).code(), 0);
  EXPECT_LE(problem().kernels.size(), 5u);
  EXPECT_GE(problem().kernels.size(), 4u);
  EXPECT_LE(nvcc_.compiled(), 5);
}

TEST_F(CutlassCommandTest, WithoutAGpuKernelsAreListedAndCompiledAndARaceSaysWhatIsMissing) {
  std::filesystem::remove(assay_.file("driver/libcuda.so.1"));
  const std::vector<std::string> asked = {"kernels", "--provider", "cutlass", "--target",
                                          "sm_90a",  "--shape",    kShape};
  const auto kernels = [&](const std::vector<std::string>& more, bool compiler = true) {
    std::vector<std::string> words = asked;
    words.insert(words.end(), more.begin(), more.end());
    return run(words, compiler);
  };
  const Finished listed = kernels({"--why"});
  EXPECT_EQ(listed.code(), 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("130 kernels, "));
  EXPECT_EQ(nvcc_.compiled(), 0);
  const Finished none = kernels({"--why"}, false);
  EXPECT_EQ(none.code(), 0) << none.err;
  EXPECT_THAT(none.out, HasSubstr("0 kernels, "));
  EXPECT_THAT(none.out, HasSubstr("install"));
  const Finished compiled =
      kernels({"--compile", "--build", "3", "--cache-dir", assay_.file("pool")});
  EXPECT_EQ(compiled.code(), 0) << compiled.out << compiled.err;
  EXPECT_THAT(compiled.out, HasSubstr("3 compiled for sm_90a"));
  EXPECT_THAT(compiled.out, HasSubstr("127 refused: not built: ranked below 3 by roofline"));
  EXPECT_THAT(compiled.out, HasSubstr("168 registers, 0 bytes spilled, 200000 bytes of dynamic"));
  EXPECT_EQ(nvcc_.compiled(), 3);
  const Finished brought = kernels(
      {"--setting", "cutlass.pool=" + assay_.file("pool"), "--cache-dir", assay_.file("other")},
      false);
  EXPECT_THAT(brought.out, HasSubstr("3 kernels, "));
  const Finished nowhere = assay_.run({"kernels", "--provider", "cutlass", "--target", "sm_90a"},
                                      {"env", "ASSAY_CUTLASS_POOL=" + assay_.file("nowhere")});
  EXPECT_EQ(nowhere.code(), 2) << nowhere.out;
  EXPECT_THAT(nowhere.err, HasSubstr("nowhere' holds no kernels of CUTLASS"));
  EXPECT_THAT(nowhere.err, HasSubstr("said by the environment"));
  const Finished race =
      run({"sweep", "--provider", "cutlass", "--device", "gpu", "--shape", kShape});
  EXPECT_NE(race.code(), 0);
  EXPECT_THAT(race.err, HasSubstr("libcuda.so.1"));
}

TEST_F(CutlassCommandTest, AWinnerLeavesAsItsObjectWithACallerThatTimesIt) {
  ASSERT_EQ(sweep({"--build", "1"}).code(), 0);
  const Finished exported = run({"export", "--winner", "gemm_m16_n24_k32_f16", "--run", "run",
                                 "--output-dir", "winner", "--device", "gpu"});
  ASSERT_EQ(exported.code(), 0) << exported.out << exported.err;
  EXPECT_THAT(testing::unbroken(exported.out), HasSubstr("a compiled kernel of CUTLASS"));
  const auto shell = [&](const std::string& command) {
    return assay_.run({}, {"env", "LD_LIBRARY_PATH=" + assay_.file("driver"), "sh", "-c",
                           "cd '" + assay_.file("winner") + "' && " + command});
  };
  const Finished ran = shell("make -s caller && cd / && \"$OLDPWD/caller\" --seconds 0.01");
  EXPECT_EQ(ran.code(), 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("right: 384 of 384 elements"));
  EXPECT_THAT(ran.out, HasSubstr("us a launch"));
  const Finished without = shell("rm kernel_*.so && ./caller");
  EXPECT_EQ(without.code(), 2);
  EXPECT_THAT(without.err, HasSubstr("the kernel was not launched: -1"));
}

// A record from elsewhere must not say which compiler is run here.
TEST_F(CutlassCommandTest, WhereCodeLiesIsNotRecorded) {
  ASSERT_EQ(sweep({"--build", "1", "--setting", "cutlass.space=default", "--setting",
                   "cutlass.nvcc=" + nvcc_.nvcc()})
                .code(),
            0);
  // The command line is kept as it was typed; settings are what a replay obeys.
  const auto record = load_record(assay_.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_THAT(record->options.settings, ::testing::ElementsAre("cutlass.space=default"));
}

// Nothing is wrong with the kernels there: whoever asks is told of the machine.
TEST_F(CutlassCommandTest, ACacheThatCannotBeWrittenIsTheMachinesFault) {
  ASSERT_TRUE(write_file_atomic(assay_.file("notadir"), "x"));
  const Finished finished =
      run({"kernels", "--compile", "--provider", "cutlass", "--target", "sm_90a", "--shape", kShape,
           "--build", "2", "--cache-dir", assay_.file("notadir")});
  EXPECT_EQ(finished.code(), 5) << finished.out << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("artifact cache"));
}

}  // namespace
}  // namespace assay
