// Triton kernels as users bring them, on a GPU that is testing/fake_cuda, compiled by a Python
// that is testing/fake_triton: through all processes of a run, without Triton and without a GPU.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"
#include "testing/fake_triton.h"

namespace assay {
namespace {

using testing::AssayProgram;
using ::testing::ContainsRegex;
using testing::FakeTriton;
using testing::Finished;
using ::testing::HasSubstr;

// The shell's PATH, its first program that of an activated environment.
std::string path_with(const std::string& folder) {
  const char* path = std::getenv("PATH");
  return "PATH=" + folder + ":" + (path == nullptr ? "/usr/bin:/bin" : path);
}

class TritonOnAGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    const fs::path folder = assay_.file("driver");
    fs::create_directory(folder);
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", folder / "libcuda.so.1");
    write("driver/fake_cuda.txt", "ns=assay_produce:20 ns=assay_consume:20 ns=triton_gemm:100");
    write("k.py",
          "# assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k],\n"
          "#         tunables: {tile: [16, 32]}, launch: {grid: [m]}}\n"
          "raise SystemExit('nobody but Python reads this')\n");
    // Who has given up its rights is another user, and must find it.
    fs::permissions(assay_.folder(), fs::perms::others_read | fs::perms::others_exec,
                    fs::perm_options::add);
    fake_.answer(FakeTriton::kernel("triton_gemm"));
  }

  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }

  Finished run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--shape", "m=3,n=5,k=7,dtype=f32,layout=tn", "--setting",
                               "triton.python=" + fake_.python()});
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  }

  AssayProgram assay_;
  FakeTriton fake_{assay_.file("venv"), "3.9.0"};
};

TEST_F(TritonOnAGpu, AFileIsListedCompiledProvenAndRaced) {
  const Finished listed =
      run({"kernels", "--kernels", "k.py", "--provider", "triton", "--target", "sm_90a", "--why"});
  EXPECT_EQ(listed.code(), 0) << listed.out << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("f_tile16"));
  const Finished finished = run({"race", "k.py", "--device", "gpu", "--budget", "1s", "--processes",
                                 "3", "--output-dir", "run"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const auto record = load_record(assay_.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  // Its author's Python ran, but where it could reach nothing; the GPU runs the rest.
  EXPECT_EQ(record->trust, TrustGrade::device_code) << record->trust_reason;
  ASSERT_EQ(record->problems.size(), 1u);
  for (const char* name : {"f_tile16_aligned0", "f_tile32_aligned0"}) {
    const KernelOutcome* kernel = testing::find_kernel(record->problems.front(), name);
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_TRUE(kernel->proof && kernel->proof->right) << name;
    EXPECT_EQ(kernel->artifact_facts.json().at("registers"), 40) << name;
  }
}

// It is waited for while all are compiled at once, and not each by itself again.
TEST_F(TritonOnAGpu, ACompilerThatHangsIsWaitedForOnce) {
  fake_.run("exec sleep 1000");
  const Finished finished = run({"race", "k.py", "--device", "gpu", "--budget", "1s",
                                 "--compile-timeout", "1s", "--output-dir", "run"});
  EXPECT_NE(finished.code(), 0) << finished.out;
  const auto record = load_record(assay_.file("run/record.json"));
  ASSERT_TRUE(record) << record.error().message;
  for (const char* name : {"f_tile16_aligned0", "f_tile32_aligned0"}) {
    const KernelOutcome* kernel = testing::find_kernel(record->problems.front(), name);
    ASSERT_NE(kernel, nullptr) << name;
    const auto* timeout = std::get_if<ending::Timeout>(&kernel->ending);
    ASSERT_NE(timeout, nullptr) << name;
    EXPECT_EQ(timeout->stage, "build");
  }
  // The provider says it in another way, who would have been asked again.
  const Finished compiled = run({"race", "k.py", "--target", "sm_90a", "--compile-timeout", "1s"});
  EXPECT_THAT(compiled.out, HasSubstr("compiling was stopped after 1 s (--compile-timeout)"));
}

// With what Triton decided of its launch: threads, shared memory, what it is not given, scratch.
TEST_F(TritonOnAGpu, AWinnerLeavesWithTheLaunchThatItWasCompiledFor) {
  for (const int scratch : {0, 64}) {
    SCOPED_TRACE(scratch);
    std::filesystem::remove_all(assay_.file("run"));
    std::filesystem::remove_all(assay_.file("winner"));
    Json answer = FakeTriton::kernel("triton_gemm");
    answer["kernel"]["global_scratch_bytes"] = scratch;
    answer["kernel"]["global_scratch_alignment"] = 16;
    fake_.answer(answer);
    write("k.py",
          "# assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out, m, n, k],\n"
          "#         tunables: {tile: [" +
              std::to_string(16 + scratch) + "]}, launch: {grid: [m]}}\n");
    const Finished raced = run({"race", "k.py", "--device", "gpu", "--budget", "1s", "--processes",
                                "3", "--output-dir", "run"});
    ASSERT_EQ(raced.code(), 0) << raced.out << raced.err;
    const Finished exported =
        assay_.run({"export", "--winner", "gemm_m3_n5_k7_f32_tn", "--run", "run", "--output-dir",
                    "winner", "--device", "gpu"},
                   {"env", "LD_LIBRARY_PATH=" + assay_.file("driver"),
                    path_with(assay_.file("venv/bin"))});  // As `activate` does it.
    ASSERT_EQ(exported.code(), 0) << exported.out << exported.err;
    const std::string launch = read_file(assay_.file("winner/launch.cc")).value_or("");
    EXPECT_THAT(launch, HasSubstr("{3, 1, 1}, {128, 1, 1}, {1, 1, 1}, 1024"));
    // Three pointers, three sizes, and its two scratch memories, each block's in one.
    EXPECT_THAT(launch, HasSubstr("kParameters, 8}"));
    EXPECT_EQ(launch.find("gpu::Parameter::scratch, -1, 192,") != std::string::npos, scratch > 0);
    const Finished ran =
        assay_.run({}, {"env", "LD_LIBRARY_PATH=" + assay_.file("driver"), "sh", "-c",
                        "cd '" + assay_.file("winner") +
                            "' && make -s caller && ./caller "
                            "--seconds 0.01"});
    EXPECT_EQ(ran.code(), 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("right: 15 of 15 elements"));
  }
}

// The seed's baseline command.
TEST_F(TritonOnAGpu, ASweepOfTheProviderWritesItsResults) {
  const Finished finished =
      run({"sweep", "--provider", "triton", "--kernels", "k.py", "--device", "gpu", "--budget",
           "1s", "--processes", "3", "--output-dir", "artifacts/cutlass_profiler"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const auto results =
      read_file(assay_.file("artifacts/cutlass_profiler/triton_matmul_results.json"));
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_THAT(*results, HasSubstr("f_tile"));
  write("artifacts/cutlass_profiler/cutlass_profiler_results.json",
        R"({"provider": "cutlass", "results": [{"name": "gemm_m3_n5_k7_f32_tn", "tflops": 0.0021,
            "runtime_ms": 0.0001, "kernel": "stock"}]})");
  const Finished compared = assay_.run({"compare", "--include-default-triton"});
  EXPECT_THAT(compared.out, HasSubstr("triton")) << compared.err;
}

TEST_F(TritonOnAGpu, WithoutADeviceItEndsAtWhatWasCompiled) {
  const Finished finished = run({"race", "k.py", "--target", "sm_90a"});
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_THAT(finished.out,
              HasSubstr("40 registers, 20 bytes spilled, 1024 bytes of dynamic shared"));
  EXPECT_THAT(finished.out, HasSubstr("2 compiled for sm_90a; not raced: no device"));
  fake_.answer({{"error", {{"place", "k.py:3"}, {"what", "KeyError: 'n'"}, {"trace", ""}}}});
  write("k.py",
        "# assay: {entry: f, dtype: f32, layout: tn, args: [a, b, out],\n"
        "#         launch: {grid: [m]}}\n");
  const Finished failed = run({"race", "k.py", "--target", "sm_90a"});
  EXPECT_EQ(failed.code(), 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("k.py:3: KeyError: 'n'"));
}

// Neither the user's own files nor assay's cache can be written by what a kernel's Python does, and
// nothing that it starts is left.
TEST_F(TritonOnAGpu, ThePythonOfAKernelHasNoRights) {
  write("mine.txt", "mine");
  const std::string theirs = assay_.file("mine.txt");
  std::filesystem::permissions(theirs, std::filesystem::perms::owner_all);
  fake_.run("echo changed > '" + theirs + "' 2>/dev/null; echo x > '" + assay_.file("venv/new") +
            "' 2>/dev/null; sleep 1000 & setsid sleep 1000 &\n"
            "grep NoNewPrivs /proc/self/status >&2; touch here && echo 'can write here' >&2\n"
            "exit 1");
  const Finished finished = run({"race", "k.py", "--target", "sm_90a"});
  EXPECT_EQ(finished.code(), 1) << finished.out << finished.err;
  EXPECT_THAT(testing::unbroken(finished.out), ContainsRegex("NoNewPrivs:[^ ]*1"));
  EXPECT_THAT(finished.out, HasSubstr("can write here"));
  // Where the system gives it namespaces, or makes it another user, as confine.h says.
  if (::geteuid() == 0) {
    EXPECT_EQ(read_file(theirs).value_or(""), "mine") << "it is another user";
    EXPECT_FALSE(std::filesystem::exists(assay_.file("venv/new")));
  }
}

TEST_F(TritonOnAGpu, SaysWhatToInstallWhereThereIsNoTriton) {
  const Finished finished =
      assay_.run({"race", "k.py", "--target", "sm_90a", "--shape",
                  "m=3,n=5,k=7,dtype=f32,layout=tn", "--setting", "triton.python=/bin/sh"});
  EXPECT_EQ(finished.code(), 1) << finished.out << finished.err;
  EXPECT_THAT(testing::unbroken(finished.out), HasSubstr("pip install triton"));
}

}  // namespace
}  // namespace assay
