// Commands on a GPU as users give them, where the GPU is testing/fake_cuda.

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;

class FakeGpuTest : public ::testing::Test {
 protected:
  // Where the system would have its driver, and what the fake one is told.
  void SetUp() override {
    namespace fs = std::filesystem;
    const fs::path folder = assay_.file("driver");
    fs::create_directory(folder);
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", folder / "libcuda.so.1");
    for (const char* entry :
         {"gemm", "gemm_no_wait", "gemm_faults", "gemm_wrong", "gemm_wrong_later"}) {
      write_file_atomic(
          assay_.file(fmt::format("{}.ptx", entry)),
          fmt::format("// assay: {{entry: {0}, dtype: f32, layout: tn, args: [a, b, out, m, "
                      "n, k],\n//         launch: {{grid: [1], block: [32]}}}}\n"
                      ".version 8.0\n.target sm_80\n.address_size 64\n"
                      ".visible .entry {0}() {{ ret; }}\n",
                      entry));
    }
  }

  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }

  Finished run(const std::string& driver, std::vector<std::string> words,
               const std::string& device = "gpu") const {
    // Launches of the chain's own kernels are short: the fake clock must not run ahead of the real
    // one, which the parent looks at.
    write("driver/fake_cuda.txt", "ns=assay_produce:20 ns=assay_consume:20 " + driver);
    const std::vector<std::string> shape = {"--shape",      "m=3,n=5,k=7,dtype=f32,layout=tn",
                                            "--budget",     "1s",
                                            "--processes",  "3",
                                            "--timeout",    "5s",
                                            "--output-dir", "run"};
    words.insert(words.end(), shape.begin(), shape.end());
    if (!device.empty()) words.insert(words.end(), {"--device", device});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  }

  RunRecord record() const {
    auto record = load_record(assay_.file("run/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    return record ? *record : RunRecord{};
  }

  AssayProgram assay_;
};

TEST_F(FakeGpuTest, AKernelThatTakesHalfAsLongIsFasterAndTrustedAsDeviceCode) {
  const Finished finished = run("ns=gemm:100 ns=gemm_no_wait:200",
                                {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx")});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  // As 200 ns are to 100, whatever the links around them take.
  EXPECT_THAT(finished.out, HasSubstr("faster than ptx/gemm_no_wait: 2.0"));
  const RunRecord run = record();
  EXPECT_EQ(run.trust, TrustGrade::device_code) << run.trust_reason;
  ASSERT_EQ(run.problems.size(), 1u);
  const ProblemRecord& problem = run.problems.front();
  EXPECT_EQ(problem.condition.spacing, "chain");
  ASSERT_NE(problem.decisive(), nullptr);
  EXPECT_EQ(problem.decisive()->processes.size(), 3u);
  // What a burst costs once is shared alike, however long a launch is.
  for (const ProcessSamples& process : problem.decisive()->processes)
    for (const KernelSamples& kernel : process.kernels)
      EXPECT_EQ(kernel.launches, process.kernels.front().launches);
}

// To look at a process's code is to stop it: tens of milliseconds on a GPU, for each look.
TEST_F(FakeGpuTest, NobodyStopsAProcessInWhichUsersHaveNoCode) {
  const Finished finished =
      run("stops=told", {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx")});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_EQ(record().trust, TrustGrade::device_code);
  const auto stops = read_file(assay_.file("driver/stops"), 1 << 20);
  ASSERT_TRUE(stops) << stops.error().message;
  EXPECT_EQ(*stops, "");
}

// A problem of more than a few lines of memory.
TEST_F(FakeGpuTest, OperandsThatTheCacheKeptAreNoColdOnes) {
  for (const bool kept : {false, true}) {
    SCOPED_TRACE(kept);
    std::filesystem::remove_all(assay_.file("run"));
    const Finished finished = run(kept ? "caches=all" : "",
                                  {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx"),
                                   "--shape", "m=2,n=64,k=64,dtype=f32,layout=tn"});
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    const RunRecord run = record();
    ASSERT_FALSE(run.problems.empty());
    const auto& findings = run.problems.front().findings;
    const auto found = std::ranges::find(findings, "cache_unproven", &Finding::code);
    if (kept) {
      ASSERT_NE(found, findings.end());
      EXPECT_THAT(found->sentence, HasSubstr("took 38.4 us cold and 38.4 us warm"));
    } else {
      EXPECT_EQ(found, findings.end()) << found->sentence;
    }
  }
}

TEST_F(FakeGpuTest, WhyNamesWhatALaunchLeavesOfTheGpu) {
  const Finished finished = run("", {"why", "gemm.ptx"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("blocks x threads"));
  EXPECT_THAT(finished.out, HasSubstr("1 x 32"));
  EXPECT_THAT(testing::unbroken(finished.out), HasSubstr("of the GPU has nothing to do"));
  EXPECT_THAT(finished.out, ::testing::Not(HasSubstr("cycles per FMA")));
}

// Kernels that take turns share a clock; where a power cap sets it, each is timed alone, too.
TEST_F(FakeGpuTest, AtThePowerCapTheTwoOfTheVerdictRunAtTheirOwnClocks) {
  const auto tests = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::filesystem::create_symlink(tests / "libfake_nvml.so",
                                  assay_.file("driver/libnvidia-ml.so.1"));
  for (const bool capped : {false, true}) {
    SCOPED_TRACE(capped);
    std::filesystem::remove_all(assay_.file("run"));
    write("driver/fake_nvml.txt", capped ? "throttle=4" : "");
    // A block is one launch behind the other, each of which takes the host 200 ns: longer ones
    // would run ahead of the real clock.
    const Finished finished =
        run("ns=gemm:20 ns=gemm_no_wait:40",
            {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx")});
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    const RunRecord run = record();
    ASSERT_FALSE(run.problems.empty());
    const ProblemRecord& problem = run.problems.front();
    ASSERT_EQ(problem.own_clock.has_value(), capped);
    if (!capped) continue;
    const OwnClock& clock = *problem.own_clock;
    EXPECT_EQ(problem.label(clock.candidate), "ptx/gemm_no_wait");
    EXPECT_EQ(problem.label(clock.other), "ptx/gemm") << "the leader: there is no stock kernel";
    std::vector<std::string> order;
    for (const ClockBlock& block : clock.blocks) {
      order.push_back(block.id);
      EXPECT_GT(block.launches, 1000);
      EXPECT_GT(block.joules, 0);
      EXPECT_EQ(block.capped, 1);
    }
    EXPECT_THAT(order, ElementsAre(clock.candidate, clock.other, clock.other, clock.candidate));
    ASSERT_TRUE(clock.ratio());
    EXPECT_NEAR(*clock.ratio(), 0.5, 0.02);
    EXPECT_THAT(finished.out, HasSubstr("own_clock: "));
    EXPECT_THAT(finished.out, HasSubstr("mJ a launch"));
  }
}

// Elsewhere the driver shares no memory, and the host compares.
TEST_F(FakeGpuTest, OutputsAreComparedOnTheGpuWhereItsMemoryCanBeShared) {
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    std::filesystem::remove_all(assay_.file("run"));
    const Finished finished =
        run(fmt::format("ns=gemm:100 ns=gemm_no_wait:200{}", shared ? " memory=shared" : ""),
            {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx")});
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    const RunRecord run = record();
    ASSERT_FALSE(run.problems.empty());
    for (const char* name : {"gemm", "gemm_no_wait"}) {
      const KernelOutcome& kernel = *testing::find_kernel(run.problems.front(), name);
      ASSERT_TRUE(kernel.proof) << name;
      EXPECT_TRUE(kernel.proof->right) << name;
      ASSERT_FALSE(kernel.proof->checks.empty());
      for (const ProofCheck& check : kernel.proof->checks)
        EXPECT_EQ(check.method.ends_with(", on the GPU"), shared) << check.method;
    }
  }
}

TEST_F(FakeGpuTest, AWrongKernelIsSeenOnTheGpuInItsProofAndWhenItIsTimed) {
  const Finished finished = run("memory=shared", {"race", "gemm_wrong.ptx", "gemm_wrong_later.ptx",
                                                  "--against", assay_.file("gemm.ptx")});
  const RunRecord run = record();
  ASSERT_FALSE(run.problems.empty()) << finished.err;
  for (const auto& [name, when] :
       {std::pair{"gemm_wrong", "inputs: out["}, {"gemm_wrong_later", "timed launch"}}) {
    const KernelOutcome* kernel = testing::find_kernel(run.problems.front(), name);
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_EQ(ending_name(kernel->ending), "mismatch") << name;
    EXPECT_THAT(ending_sentence(kernel->ending), HasSubstr(when)) << name;
  }
}

TEST_F(FakeGpuTest, CodeForAGpuNeedsNoDeviceNamed) {
  const Finished on_gpu = run("ns=gemm:100 ns=gemm_no_wait:200",
                              {"race", "gemm.ptx", "gemm_no_wait.ptx", "--against", "ptx"}, "");
  ASSERT_EQ(on_gpu.code(), 0) << on_gpu.out << on_gpu.err;
  EXPECT_EQ(record().environment.device.name, "Fake H200");
  const Finished on_cpu = run("", {"race", "gemm.ptx"}, "cpu");
  EXPECT_NE(on_cpu.code(), 0) << "it was asked for the CPU";
}

TEST_F(FakeGpuTest, AKernelThatHidesInTheChainIsUnsureAndSaidToBe) {
  const Finished finished = run("ns=gemm:10 ns=gemm_no_wait:200",
                                {"race", "gemm.ptx", "--against", assay_.file("gemm_no_wait.ptx")});
  EXPECT_THAT(finished.out, HasSubstr("unsure")) << finished.err;
  const RunRecord run = record();
  ASSERT_EQ(run.problems.size(), 1u);
  const KernelOutcome* kernel = testing::find_kernel(run.problems.front(), "gemm");
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->findings.size(), 1u);
  EXPECT_EQ(kernel->findings.front().code, "launch_bound");
}

TEST_F(FakeGpuTest, AKernelThatFaultsOrHangsEndsAloneAndTheOtherIsConfirmed) {
  // The bad one comes first: the other is proven after it.
  for (const auto& [bad, driver, ending] :
       {std::tuple{"gemm_faults", "", "device_lost"},
        std::tuple{"gemm_no_wait", "hang=gemm_no_wait", "timeout"}}) {
    const Finished finished = run(fmt::format("ns=gemm:100 {}", driver),
                                  {"sweep", "--provider", "ptx", "--kernels",
                                   fmt::format("{}.ptx", bad), "gemm.ptx", "--fresh"});
    EXPECT_EQ(finished.code(), 0) << bad << finished.out << finished.err;
    const RunRecord run = record();
    ASSERT_EQ(run.problems.size(), 1u);
    const KernelOutcome* good = testing::find_kernel(run.problems.front(), "gemm");
    const KernelOutcome* other = testing::find_kernel(run.problems.front(), bad);
    ASSERT_TRUE(good != nullptr && other != nullptr) << bad;
    EXPECT_TRUE(is_timed(good->ending)) << bad;
    EXPECT_EQ(ending_name(other->ending), ending) << bad;
    EXPECT_NE(run.problems.front().decisive(), nullptr) << bad;
  }
}

TEST_F(FakeGpuTest, ARunThatLostItsGpuGoesOnWithIt) {
  const std::vector<std::string> words = {"sweep",     "--provider", "ptx",
                                          "--kernels", "gemm.ptx",   "gemm_no_wait.ptx"};
  const Finished lost = run("ns=gemm:100 lost=gemm_no_wait", words);
  EXPECT_EQ(lost.code(), 5) << lost.out << lost.err;
  EXPECT_THAT(lost.err, HasSubstr("NO_DEVICE"));
  EXPECT_FALSE(std::filesystem::exists(assay_.file("run/record.json")));
  // Back again, it is no fault of the kernel that ran when it was lost.
  std::vector<std::string> again = words;
  again.emplace_back("--resume");
  const Finished finished = run("ns=gemm:100", again);
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  for (const char* name : {"gemm", "gemm_no_wait"}) {
    const RunRecord run = record();
    const KernelOutcome* kernel = testing::find_kernel(run.problems.front(), name);
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_TRUE(is_timed(kernel->ending)) << name << ending_sentence(kernel->ending);
  }
}

TEST_F(FakeGpuTest, AGpuThatIsFullSaysSo) {
  const Finished finished = run("fail=cuMemAlloc_v2:2:1", {"race", "gemm.ptx"});
  EXPECT_NE(finished.code(), 0);
  EXPECT_THAT(finished.out + finished.err, HasSubstr("out of memory"));
}

// GPUs of the fake driver: GPU-fafbfcfd-..., GPU-0a0b0c0d-...
TEST_F(FakeGpuTest, TheSecondGpuOfTwoIsTheOneThatIsUsed) {
  const Finished finished = run("gpus=2", {"race", "gemm.ptx"}, "1");
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(record().environment.device.id, HasSubstr("GPU-0a0b0c0d-"));
}

TEST_F(FakeGpuTest, AProcessThatSeesOtherGpusThanItsOwnDoesNotMeasure) {
  const Finished finished = run("gpus=2 pin=ignored", {"race", "gemm.ptx"}, "1");
  EXPECT_EQ(finished.code(), 5) << finished.out << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("shows 2 GPUs where CUDA_VISIBLE_DEVICES names GPU-0a0b"));
}

TEST_F(FakeGpuTest, AProgramBehindDeviceSeesTheChosenGpuAlone) {
  const auto device = [&](const std::string& driver, std::vector<std::string> words) {
    write("driver/fake_cuda.txt", driver);
    words.insert(words.begin(), {"--device", "1", "device"});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  };
  const std::string uuid = "GPU-0a0b0c0d-0e0f-1011-1213-141516171819";
  Finished finished = device("gpus=2", {"--", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES; exit 7"});
  EXPECT_EQ(finished.code(), 7) << finished.err;
  EXPECT_EQ(finished.out, uuid + "\n");
  EXPECT_EQ(device("gpus=2", {"--export"}).out, "export CUDA_VISIBLE_DEVICES=" + uuid + "\n");
  finished = device("gpus=2", {});
  EXPECT_THAT(finished.out, HasSubstr("  0: Fake H200, GPU-fafbfcfd-"));
  EXPECT_THAT(finished.out, HasSubstr("> 1: Fake H200, " + uuid));
  // A driver that does not keep to it.
  for (const char* word : {"--", "--export"}) {
    finished = device("gpus=2 pin=ignored", {word, "true"});
    EXPECT_EQ(finished.code(), word == std::string_view("--") ? 5 : 2) << finished.err;
  }
  EXPECT_EQ(device("gpus=2", {"--", "no-such-program"}).code(), 2);
}

// It may be stopped as if it had been started without assay.
TEST_F(FakeGpuTest, AProgramBehindDeviceCanBeStopped) {
  write("driver/fake_cuda.txt", "");
  testing::Running running = assay_.start(
      {"--device", "gpu", "device", "--", "sh", "-c", "echo here >&2; exec sleep 1000"},
      {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  ASSERT_TRUE(testing::wait_until(
      [&] { return running.errors_so_far().find("here") != std::string::npos; }));
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait().status.signal, SIGTERM);
}

TEST_F(FakeGpuTest, AGpuThatIsNotThereIsNamedWithThoseThatAre) {
  const Finished finished = run("gpus=2", {"race", "gemm.ptx"}, "7");
  EXPECT_EQ(finished.code(), 2);
  EXPECT_THAT(finished.err, HasSubstr("0: "));
  EXPECT_THAT(finished.err, HasSubstr("1: "));
}

}  // namespace
}  // namespace assay
