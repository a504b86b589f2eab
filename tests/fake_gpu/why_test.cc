// `assay why` on a GPU: what the driver says of launches, and what ncu would count, where the GPU
// is testing/fake_cuda and ncu a script that runs what it is given and writes a table of it.

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/assay_program.h"
#include "testing/fake_gpu.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::AssayProgram;
using ::testing::Contains;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;

// Parses its options as ncu has them, runs the program, and makes a row of each launch that the
// driver saw between cuProfilerStart and cuProfilerStop; %s: what stands in front of that.
constexpr const char* kNcu = R"sh(#!/bin/sh
if [ "$1" = --version ]; then
  printf 'NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 1)\n'
  exit 0
fi
while :; do case "$1" in
  --log-file) log=$2; shift 2;;
  --metrics) metrics=$2; shift 2;;
  --csv) shift;;
  --*) shift 2;;
  *) break;;
esac; done
workers=0
for p in /proc/[0-9]*; do
  [ "$(readlink $p/cwd)" = "$PWD" ] && tr '\0' ' ' < $p/cmdline | grep -q ' worker *$' &&
    workers=$((workers + 1))
done 2>/dev/null
echo $workers > workers
{}
export FAKE_CUDA_PROFILE=$PWD/launches
: > launches
"$@" || exit 9
{{
  echo '==PROF== Connected to process 1 (assay)'
  awk -v m="$metrics" -v kernels="${{KERNELS:-1}}" 'BEGIN {{
    n = split(m, names, ",")
    v["gpu__time_duration.sum"] = "2,000"; u["gpu__time_duration.sum"] = "ns"
    v["dram__bytes_read.sum"] = "1,000"; u["dram__bytes_read.sum"] = "byte"
    v["dram__bytes_write.sum"] = "136"; u["dram__bytes_write.sum"] = "byte"
    v["launch__registers_per_thread"] = "168"; u["launch__registers_per_thread"] = "register/thread"
    v["launch__grid_size"] = "66"; v["launch__block_size"] = "384"
    v["launch__waves_per_multiprocessor"] = "0.5"
    printf "\"ID\",\"Kernel Name\""
    for (i = 1; i <= n; i++) printf ",\"%s\"", names[i]
    printf "\n\"\",\"\""
    for (i = 1; i <= n; i++) printf ",\"%s\"", names[i] in u ? u[names[i]] : names[i] ~ /pct/ ? "%" : ""
    printf "\n"
  }} {{
    for (k = 1; k <= kernels; k++) {{
      printf "\"%d\",\"%s\"", NR, k == 1 ? $1 : "reduce"
      for (i = 1; i <= n; i++) {{
        name = names[i]
        value = name in v ? v[name] : name ~ /^dram.*pct/ ? "81.5" : name ~ /tensor/ ? "12.5" : "3"
        printf ",\"%s\"", value
      }}
      printf "\n"
    }}
  }}' launches
  echo '==PROF== Disconnected from process 1'
}} > "$log"
)sh";

class WhyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder = assay_.file("driver");
    fs::create_directory(folder);
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", folder / "libcuda.so.1");
    for (const char* entry : {"gemm", "gemm_no_wait", "gemm_wrong"})
      write(
          fmt::format("{}.ptx", entry),
          fmt::format("// assay: {{entry: {0}, dtype: f32, layout: tn, args: [a, b, out, m, n, "
                      "k],\n//         launch: {{grid: [1], block: [32]{1}}}}}\n"
                      ".version 8.0\n.target sm_80\n.address_size 64\n"
                      ".visible .entry {0}() {{ ret; }}\n",
                      entry, entry == std::string_view("gemm_no_wait") ? ", dependent: true" : ""));
    write("driver/fake_cuda.txt", "ns=assay_produce:20 ns=assay_consume:20");
  }

  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }
  // begins: what it does before it runs the program.
  std::string ncu(const std::string& begins = "") const {
    write("ncu", fmt::format(fmt::runtime(kNcu), begins));
    fs::permissions(assay_.file("ncu"), fs::perms::owner_all);
    return assay_.file("ncu");
  }
  std::string text_of(const std::string& name) const {
    const auto text = read_file(assay_.file(name));
    return text ? *text : std::string();
  }

  Finished run(std::vector<std::string> words, const std::string& dtype = "f32") const {
    const std::vector<std::string> shape = {"--shape",      "m=3,n=5,k=7,layout=tn,dtype=" + dtype,
                                            "--budget",     "1s",
                                            "--processes",  "3",
                                            "--timeout",    "5s",
                                            "--output-dir", "run",
                                            "--device",     "gpu"};
    fs::remove_all(assay_.file("run"));
    words.insert(words.begin(), "why");
    words.insert(words.end(), shape.begin(), shape.end());
    return assay_.run(std::move(words), {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")});
  }
  // Of the first problem's kernel.
  GpuProfile profile_of(const std::string& name) const {
    const auto record = load_record(assay_.file("run/record.json"));
    EXPECT_TRUE(record) << record.error().message;
    if (!record || record->problems.empty()) return {};
    const KernelOutcome* kernel = testing::find_kernel(record->problems.front(), name);
    if (kernel == nullptr || !record->problems.front().profiles.contains(kernel->id)) return {};
    return record->problems.front().profiles.at(kernel->id);
  }

  AssayProgram assay_;
};

TEST_F(WhyTest, NcuCountsTheKernelsLaunchesAloneOnceNothingIsTimedAnyMore) {
  const Finished finished = run({"gemm.ptx", "--ncu", ncu()});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  EXPECT_EQ(text_of("launches"), "gemm\ngemm\ngemm\n");
  EXPECT_EQ(text_of("workers"), "0\n") << "who timed, or might time, is gone";
  const GpuProfile profile = profile_of("gemm");
  EXPECT_EQ(profile.unavailable, "");
  EXPECT_EQ(profile.tool, "ncu 2025.3.1.0");
  EXPECT_EQ(profile.launches, 3);
  ASSERT_EQ(profile.kernels.size(), 1u);
  EXPECT_EQ(profile.kernels.front().name, "gemm");
  EXPECT_EQ(profile.kernels.front().at(metric::kRead), 1000);
  EXPECT_EQ(profile.kernels.front().at(metric::kTensor), 12.5);
  EXPECT_THAT(profile.command_line, Contains("--profile-from-start"));
  EXPECT_THAT(profile.command_line, Contains("profiled"));
  EXPECT_TRUE(fs::exists(assay_.file("run/" + profile.output)));
  const std::string said = testing::unbroken(finished.out);
  EXPECT_THAT(said, HasSubstr("read from DRAM 1.00 kB"));
  EXPECT_THAT(said, HasSubstr("tensor pipe busy 12 %"));
  EXPECT_THAT(said, HasSubstr("blocks x threads 1 x 32"));
  // 284 bytes are the least that this shape moves.
  EXPECT_THAT(said, HasSubstr("ncu counts 1.14 kB through DRAM in a launch, 4.00 x the least"));
  EXPECT_THAT(said, HasSubstr("By its counters it is bound by DRAM, busy to 82 %"));
}

// Kernels of the processor have cycles and threads; here they would be dashes.
TEST_F(WhyTest, RowsThatSayNothingAreNotShown) {
  const Finished finished =
      run({"gemm.ptx", "gemm_wrong.ptx", "--ncu", "none", "--provider", "ptx"});
  EXPECT_THAT(finished.out, Not(HasSubstr("\nthreads ")));
  for (const char* row : {"cycles per FMA", "core clock", "DRAM busy", "kernels, by"})
    EXPECT_THAT(testing::unbroken(finished.out), Not(HasSubstr(row)));
  EXPECT_THAT(finished.out, HasSubstr("gave wrong results"));
  EXPECT_THAT(testing::unbroken(finished.out),
              HasSubstr("no counters: --ncu said that ncu is not wanted"));
}

TEST_F(WhyTest, WhatALibraryLaunchesIsToldByItsCounters) {
  const Finished finished =
      run({"cublaslt/default", "--ncu", ncu("export KERNELS=2"), "--provider", "cublaslt",
           "--library", "cublaslt=" + testing::fake_library("fake_cublaslt")});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const GpuProfile profile = profile_of("default");
  ASSERT_EQ(profile.kernels.size(), 2u) << profile.unavailable;
  EXPECT_EQ(profile.kernels.back().name, "reduce");
  EXPECT_EQ(profile.sum(metric::kRead), 2000);
  const std::string said = testing::unbroken(finished.out);
  EXPECT_THAT(said, HasSubstr("66 x 384; 66 x 384"));
  EXPECT_THAT(said, HasSubstr("registers of a thread 168; 168"));
  EXPECT_THAT(said, HasSubstr("; reduce"));
  EXPECT_THAT(said, HasSubstr("8.00 x the least possible: it reads operands again"));
  EXPECT_THAT(said, HasSubstr("It launches 66 blocks, 0.50 of a wave: 50 % of the GPU"));
}

TEST_F(WhyTest, WhatNcuCannotDoIsOneSentenceAndTheRestStays) {
  const std::string permission =
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.";
  for (const auto& [begins, sentence] : std::vector<std::pair<std::string, std::string>>{
           {fmt::format("echo '{}' > $log; exit 1", permission), "--cap-add SYS_ADMIN"},
           {"echo '==ERROR== The moon is full' > $log; exit 1", "ncu failed: The moon is full"},
           {"exit 3", "ncu failed: it exited with code 3"},
           {"kill -SEGV $$", "signal 11"},
           {"echo '==WARNING== No kernels were profiled.' > $log; exit 0",
            "ncu saw nothing: No kernels were profiled."},
           {"head -c 100000 /dev/urandom > $log; exit 0", "no table of kernels"},
           {"set -- \"$1\" profiled /no/such/file", "/no/such/file"}}) {
    SCOPED_TRACE(begins);
    const Finished finished = run({"gemm.ptx", "--ncu", ncu(begins)});
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    EXPECT_THAT(testing::unbroken(finished.out), HasSubstr("no counters: ncu"));
    EXPECT_THAT(testing::unbroken(finished.out), HasSubstr(sentence));
    EXPECT_THAT(finished.out, HasSubstr("blocks x threads"));
    EXPECT_THAT(profile_of("gemm").unavailable, HasSubstr(sentence));
  }
}

TEST_F(WhyTest, MetricsThatNcuDoesNotKnowAreLeftOut) {
  const Finished finished =
      run({"gemm.ptx", "--ncu",
           ncu("case $metrics in *lts__*) echo '==ERROR== Failed to find metric lts__throughput' > "
               "$log; exit 1;; esac")});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const GpuProfile profile = profile_of("gemm");
  ASSERT_EQ(profile.kernels.size(), 1u) << profile.unavailable;
  EXPECT_EQ(profile.kernels.front().at(metric::kRead), 1000);
  EXPECT_THAT(testing::unbroken(finished.out),
              HasSubstr("not all counters: ncu failed: Failed to find metric lts__throughput"));
}

TEST_F(WhyTest, WhatIsNamedAsNcuMustBeAProgram) {
  const Finished finished = run({"gemm.ptx", "--ncu", "no-such-ncu"});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_THAT(finished.err, HasSubstr("'no-such-ncu' is no program"));
}

TEST_F(WhyTest, AKernelThatTakesNoPartSaysWhy) {
  Finished finished = run({"gemm_no_wait.ptx", "--ncu", "none"});
  EXPECT_NE(finished.code(), 0);
  EXPECT_THAT(testing::unbroken(finished.out),
              HasSubstr("launches dependently, and this race forbids it; --dependent-launch "
                        "allowed lets it"));
  finished = run({"gemm.ptx", "--ncu", "none"}, "f16");
  EXPECT_EQ(finished.code(), 4);
  EXPECT_THAT(testing::unbroken(finished.err), HasSubstr("ptx/gemm cannot take"));
  EXPECT_THAT(testing::unbroken(finished.err), Not(HasSubstr("says why")));
}

}  // namespace
}  // namespace assay
