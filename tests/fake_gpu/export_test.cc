// A GPU's winner as it leaves the house: its folder builds with a compiler alone, and runs
// wherever there is a driver (here testing/fake_cuda).

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/record/record.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

class GpuExportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::create_directory(assay_.file("driver"));
    const auto tests = fs::read_symlink("/proc/self/exe").parent_path();
    fs::create_symlink(tests / "libfake_cuda.so", assay_.file("driver/libcuda.so.1"));
    write("driver/fake_cuda.txt", "ns=assay_produce:20 ns=assay_consume:20");
    write("gemm.ptx",
          "// assay: {entry: gemm, dtype: f32, layout: tn, args: [a, b, out, m, n, k],\n"
          "//         launch: {grid: [1], block: [32]}}\n"
          ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry gemm() { ret; }\n");
  }
  void write(const std::string& name, const std::string& text) const {
    const Status written = write_file_atomic(assay_.file(name), text);
    ASSERT_TRUE(written) << written.error().message;
  }
  std::vector<std::string> with_driver() const {
    return {"env", "LD_LIBRARY_PATH=" + assay_.file("driver")};
  }
  void race(const std::string& condition) {
    const Finished finished =
        assay_.run({"race", "gemm.ptx", "--shape", "m=3,n=5,k=7,dtype=f32,layout=tn", "--budget",
                    "1s", "--processes", "3", "--timeout", "5s", "--output-dir", "run", "--device",
                    "gpu", "--condition", condition},
                   with_driver());
    ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
    const Finished exported = assay_.run({"export", "--winner", "gemm_m3_n5_k7_f32_tn", "--run",
                                          "run", "--output-dir", "winner", "--device", "gpu"},
                                         with_driver());
    ASSERT_EQ(exported.code(), 0) << exported.out << exported.err;
    EXPECT_THAT(exported.out, HasSubstr("compiled device code"));
  }
  // In a burst of the confirmation's.
  int64_t raced_launches() const {
    const auto record = load_record(assay_.file("run/record.json"));
    if (!record || record->problems.front().confirmations.empty()) return -1;
    const Confirmation& last = record->problems.front().confirmations.back();
    return last.processes.front().kernels.front().launches;
  }
  // In the winner's folder; the program itself is not run.
  Finished shell(const std::string& command, const std::string& drivers) const {
    return assay_.run({}, {"env", "LD_LIBRARY_PATH=" + drivers, "sh", "-c",
                           fmt::format("cd '{}' && {}", assay_.file("winner"), command)});
  }
  Finished shell(const std::string& command) const { return shell(command, assay_.file("driver")); }

  AssayProgram assay_;
};

TEST_F(GpuExportTest, AWinnerRunsWithoutAssayAndSaysItsTime) {
  for (const char* spacing : {"chain", "back_to_back"}) {
    SCOPED_TRACE(spacing);
    std::filesystem::remove_all(assay_.file("run"));
    std::filesystem::remove_all(assay_.file("winner"));
    race(fmt::format("spacing={}", spacing));
    const Finished ran = shell("make -s caller && ./caller --seconds 0.01");
    EXPECT_EQ(ran.code(), 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("right: 15 of 15 elements"));
    EXPECT_THAT(ran.out, HasSubstr("us a launch: median of 5 processes"));
    EXPECT_THAT(ran.out, HasSubstr(" bursts of " + std::to_string(raced_launches())));
  }
}

TEST_F(GpuExportTest, WhatIsNotTheCodeThatWasRacedIsWrongAndNoDriverIsSaid) {
  race("spacing=back_to_back");
  // The driver of this test runs functions by their names.
  EXPECT_EQ(shell("make -s caller").code(), 0);
  const Finished none = shell("./caller", "/nowhere");
  EXPECT_EQ(none.code(), 2);
  EXPECT_THAT(none.err, HasSubstr("no CUDA driver"));
  const Finished other = shell(
      "sed -i 's/\"gemm\"/\"gemm_wrong\"/' launch.cc && sed -i s/gemm/gemm_wrong/ kernel.ptx && "
      "make -s caller && ./caller --seconds 0");
  EXPECT_EQ(other.code(), 1) << other.out << other.err;
  EXPECT_THAT(other.out, HasSubstr("wrong: out["));
}

}  // namespace
}  // namespace assay
