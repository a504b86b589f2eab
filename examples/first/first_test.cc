// The three files are what their README says: the first is what `assay new` writes, each of them is
// right, at the edges of its tiles too, and one race shows them side by side.

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

std::string file(const std::string& name) { return AssayProgram::source("examples/first/" + name); }

TEST(FirstTest, TheFirstFileIsWhatAssayNewWrites) {
  const AssayProgram assay;
  ASSERT_EQ(assay.run({"new", "my_gemm.cc"}).code(), 0);
  const auto written = read_file(assay.file("my_gemm.cc"));
  const auto kept = read_file(file("my_gemm.cc"));
  ASSERT_TRUE(written && kept);
  EXPECT_EQ(*written, *kept);
}

TEST(FirstTest, OneRaceShowsAllThree) {
  const AssayProgram assay;
  const Finished race =
      assay.run({"race", file("my_gemm.cc"), file("tiled.cc"), file("avx2.cc"), "--shape",
                 "m=5,n=48,k=24", "--provider", "openblas", "--budget", "1s", "--threads", "1"});
  EXPECT_EQ(race.code(), 0) << race.out << race.err;
  EXPECT_THAT(testing::unbroken(race.out), AllOf(HasSubstr("proving 4 kernels: 4 right"),
                                                 HasSubstr("us in the race of the first"),
                                                 HasSubstr("tiled.cc"), HasSubstr("avx2.cc")));
}

}  // namespace
}  // namespace assay
