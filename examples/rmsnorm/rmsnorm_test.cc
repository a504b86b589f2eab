// The files are what their README says: two are what `assay new` writes, those for a CPU are right,
// where rows are no multiple of the lanes, too, and one race shows them side by side.

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/base/file.h"
#include "testing/assay_program.h"

namespace assay {
namespace {

using ::testing::AllOf;
using testing::AssayProgram;
using testing::Finished;
using ::testing::HasSubstr;

std::string file(const std::string& name) {
  return AssayProgram::source("examples/rmsnorm/" + name);
}

TEST(RmsnormExample, TheFirstFileIsWhatAssayNewWrites) {
  const AssayProgram assay;
  const std::string shape = "operation=rmsnorm,m=16,n=4096";
  for (const auto& [name, more] :
       {std::pair<std::string, std::string>{"norm.cc", ""}, {"add_norm.cc", ",residual=f32"}}) {
    ASSERT_EQ(assay.run({"new", name, "--shape", shape + more}).code(), 0);
    const auto written = read_file(assay.file(name));
    const auto kept = read_file(file(name));
    ASSERT_TRUE(written && kept);
    EXPECT_EQ(*written, *kept);
  }
}

TEST(RmsnormExample, OneRaceShowsBoth) {
  const AssayProgram assay;
  const Finished race =
      assay.run({"race", file("norm.cc"), file("lanes.cc"), "--shape",
                 "operation=rmsnorm,m=5,n=137", "--budget", "1s", "--threads", "1"});
  EXPECT_EQ(race.code(), 0) << race.out << race.err;
  EXPECT_THAT(testing::unbroken(race.out),
              AllOf(HasSubstr("norm.cc"), HasSubstr("lanes.cc"),
                    HasSubstr("the best of assay's own (no stock kernel takes this problem)")));
}

TEST(RmsnormExample, AResidualIsAddedAndWrittenBack) {
  const AssayProgram assay;
  const Finished race =
      assay.run({"race", file("add_norm.cc"), "--shape", "operation=rmsnorm,m=5,n=137,residual=f32",
                 "--budget", "1s", "--threads", "1"});
  EXPECT_EQ(race.code(), 0) << race.out << race.err;
  EXPECT_THAT(testing::unbroken(race.out), HasSubstr("the best of assay's own"));
}

// Compiled for a GPU they are where there is one, and its tools.
TEST(RmsnormExample, FilesForAGpuSayWhatTheyTake) {
  const AssayProgram assay;
  for (const std::string name : {"add_norm.cu", "add_norm.py"}) {
    const Finished listed =
        assay.run({"kernels", "--kernels", file(name), "--target", "sm_90a", "--shape",
                   "operation=rmsnorm,m=16,n=4096,dtype=bf16,residual=bf16", "--why"});
    EXPECT_EQ(listed.code(), 0) << listed.out << listed.err;
    EXPECT_THAT(testing::unbroken(listed.out), HasSubstr("add_norm"));
  }
}

}  // namespace
}  // namespace assay
